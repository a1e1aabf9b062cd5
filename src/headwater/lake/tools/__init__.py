"""Tools for people: check, repair and dump trees and tables, and try their durability."""
