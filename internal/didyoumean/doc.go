// Package didyoumean guesses what authors of policies and expressions meant by a wrong name, and marks mistakes within a line.
package didyoumean
