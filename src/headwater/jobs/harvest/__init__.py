"""A whole SQL estate into the graph: read, cut, analyse in waves, write what has changed."""
