// Package table writes rows of cells in columns that fit a terminal.
//
// Rows are kept until [Writer.Flush], which fits the columns to them: so a table of many Jobs holds the rows of one. Columns
// only grow. When they have moved, their names are written again.
package table
