// Package print writes results: tables whose columns fit a terminal, Markdown, JSON and YAML.
//
// A [Table] keeps rows until [Table.Flush], which fits the columns to them, so a table of many Jobs holds the rows of only one Job in
// memory. Columns never shrink. After a change of the widths, the column names are written again.
package print
