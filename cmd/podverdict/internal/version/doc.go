// Package version is the verb that prints the version.
package version
