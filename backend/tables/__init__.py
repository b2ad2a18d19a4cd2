"""Tables: schema, secondary indexes, capacity, and later streams and TTL."""
