// Vectors prints the vectors of the guardrails and of the Job constraints as JSON. It is built in the root module, because
// this module must not depend on that: its library versions would apply to the tools, too.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/podverdict/podverdict/conformance/vectors"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	all, err := vectors.Guardrails()
	if err != nil {
		return err
	}
	constraints, err := vectors.Constraints()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(append(all, constraints...))
}
