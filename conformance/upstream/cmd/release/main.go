// Command release serves, over standard input and output, the decisions of the Kubernetes release that it is built with:
// how its Job controller matches failed pods, and how its API server validates Jobs. Package release is the client. The
// command takes no arguments.
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
