// Package structure has the tests of the repository's structure: imports point one way, the small packages link nothing
// large, and no folder has a meaningless name. For example, a file in runtime that imports controller/plan fails
// TestImportsPointOneWay, which names both.
//
// There is no code to import here.
package structure
