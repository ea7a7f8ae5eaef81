// Package didyoumean suggests corrections for wrong names in policies and expressions, and marks mistakes within a line.
package didyoumean
