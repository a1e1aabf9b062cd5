"""Walks over resolved trees."""

from headwater.zetasql import visit_resolved_node, walk_resolved_tree

__all__ = ["visit_resolved_node", "walk_resolved_tree"]
