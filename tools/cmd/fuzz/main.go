// Fuzz runs the fuzz targets of modules one after the other, each for a limited time.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

func main() {
	duration := flag.String("time", "30s", "how long each target runs")
	flag.Parse()
	if err := run(*duration, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

func run(duration string, modules []string) error {
	count := 0
	for _, module := range modules {
		var list bytes.Buffer
		if err := goTest(module, &list, "-list", "^Fuzz", "./..."); err != nil {
			return err
		}
		for _, t := range targets(&list) {
			fmt.Printf("== %s of %s\n", t.name, t.pkg)
			if err := goTest(module, os.Stdout, "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", duration, t.pkg); err != nil {
				return err
			}
			count++
		}
	}
	if count == 0 {
		return errors.New("no fuzz target found")
	}
	fmt.Printf("%d fuzz targets ran for %s each\n", count, duration)
	return nil
}

func goTest(module string, out io.Writer, arguments ...string) error {
	command := exec.Command("go", append([]string{"test"}, arguments...)...) //nolint:gosec,noctx // Ctrl-C ends go, too
	command.Dir, command.Stdout, command.Stderr = module, out, os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s: %s: %w", module, command, err)
	}
	return nil
}

// target is a fuzz target of a package.
type target struct{ pkg, name string }

// targets parses the output of go test -list, in which the names of a package's targets precede the package.
func targets(list io.Reader) (all []target) {
	var names []string
	for s := bufio.NewScanner(list); s.Scan(); {
		fields := strings.Fields(s.Text())
		switch {
		case len(fields) == 1 && strings.HasPrefix(fields[0], "Fuzz"):
			names = append(names, fields[0])
		case len(fields) > 1 && fields[0] == "ok":
			for _, name := range names {
				all = append(all, target{fields[1], name})
			}
			names = nil
		}
	}
	return all
}
