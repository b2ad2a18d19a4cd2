"""Tables: schema, secondary indexes, capacity, streams and time to live."""
