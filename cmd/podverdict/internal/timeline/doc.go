// Package timeline shows the result of a simulation to people, as lines of text.
package timeline
