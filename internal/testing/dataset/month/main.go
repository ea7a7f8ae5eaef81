// Command month writes the month of docs/failed-month.md: 10,000 Pods and their Jobs, one JSON object per line.
package main

import (
	"fmt"
	"os"

	"github.com/podverdict/podverdict/internal/testing/dataset"
)

func main() {
	if err := dataset.Write(os.Stdout, dataset.Month().Records); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:forbidigo // this is a command, though not one of cmd
	}
}
