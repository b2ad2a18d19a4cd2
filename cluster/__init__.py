"""Many nodes, their time and their network, and the experiments on them."""
