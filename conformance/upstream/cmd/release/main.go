// Command release answers, over standard input and output, for the release of Kubernetes that it is built with: what its Job controller
// makes of failed pods, and what its API server says of Jobs. Package release asks it. It takes no arguments.
package main

import (
	"fmt"
	"os"

	"github.com/podverdict/podverdict/conformance/upstream/release"
)

func main() {
	if err := release.Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}
