// Package structure holds the tests that keep the folders what they are: imports
// point one way, the small packages link nothing large, and no folder is named
// after nothing in particular. For example, a file in runtime that imports
// controller/plan fails TestImportsPointOneWay, which names both.
//
// There is no code to import here.
package structure
