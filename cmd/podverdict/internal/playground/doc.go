// Package playground serves the page that runs podverdict in a browser, from a folder or a zip file of the
// release.
//
//	files, err := playground.Open("podverdict-playground_0.1.0.zip")
//	handler := playground.Page(files)
package playground
