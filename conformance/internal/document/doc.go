// Package document parses the text files of vectors and lives: a sentence that says what must be true, then headers, then
// sections.
//
//	A container that exits with a listed code fails the Job.
//	#kep: KEP-3329 JobSpec API
//	-- rules.yaml --
//	- action: FailJob
//	  onExitCodes: {operator: In, values: [42, 43]}
//
// Every error is a [ParseError], which names the file and the line.
package document
