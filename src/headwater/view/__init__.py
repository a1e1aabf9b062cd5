"""Pictures: a diagram of tables and columns, its layout, and its SVG."""
