// Package structure tests the structure of the repository: imports follow one direction, small packages link no large
// dependencies, and no folder has a meaningless name. For example, a file in runtime that imports controller/plan fails
// TestImportsPointOneWay, which names both.
//
// The package contains only tests.
package structure
