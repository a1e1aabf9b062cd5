"""The names by which ZetaSQL's lineage toolkit is known, over the engine and the rules of Headwater. Everything here
takes statements in any form: the messages of our engine, or the objects of the `zetasql` package's own `Analyzer`."""
