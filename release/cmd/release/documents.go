package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// shells, with the file that each looks for.
var shells = map[string]string{"bash": "podverdict.bash", "zsh": "_podverdict", "fish": "podverdict.fish", "powershell": "podverdict.ps1"}

// writeDocuments has the program print its completions, and makes manual pages of its help.
func (r *release) writeDocuments(ctx context.Context) error {
	for _, folder := range []string{"completions", "man"} {
		if err := os.MkdirAll(filepath.Join(r.work, folder), 0o750); err != nil {
			return err
		}
	}
	for shell, name := range shells {
		script, err := r.ask(ctx, "completion", shell)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.work, "completions", name), script, 0o600); err != nil {
			return err
		}
	}
	return r.writeManual(ctx, nil)
}

// documents are the completions and manual pages.
func (r *release) documents() (members []member) {
	for _, folder := range []string{"completions", "man"} {
		found, _ := filepath.Glob(filepath.Join(r.work, folder, "*")) // the pattern is well formed
		for _, path := range slices.Sorted(slices.Values(found)) {
			members = append(members, member{folder + "/" + filepath.Base(path), path, 0o644})
		}
	}
	return members
}

// verbLine is a verb in the help of the one above it.
var verbLine = regexp.MustCompile(`^  ([a-z][a-z-]*) {2,}\S`)

// writeManual writes the page of a command, and those of the commands below it.
func (r *release) writeManual(ctx context.Context, words []string) error {
	help, err := r.ask(ctx, append(slices.Clone(words), "--help")...)
	if err != nil {
		return err
	}
	name := strings.Join(append([]string{cli}, words...), "-")
	if err := os.WriteFile(filepath.Join(r.work, "man", name+".1"), r.page(name, help), 0o600); err != nil {
		return err
	}
	for _, verb := range verbs(help) {
		if err := r.writeManual(ctx, append(slices.Clone(words), verb)); err != nil {
			return err
		}
	}
	return nil
}

// verbs returns the commands that a help lists: those of the sections whose title ends in commands.
func verbs(help []byte) (names []string) {
	listing := false
	for line := range strings.Lines(string(help)) {
		line = strings.TrimRight(line, "\n")
		if isTitle(line) {
			listing = strings.HasSuffix(strings.ToLower(line), "commands:")
		}
		if found := verbLine.FindStringSubmatch(line); listing && found != nil && found[1] != "help" && found[1] != "completion" {
			names = append(names, found[1])
		}
	}
	return names
}

// isTitle reports whether a line of a help begins a section.
func isTitle(line string) bool {
	return line != "" && line[0] != ' ' && strings.HasSuffix(line, ":") && len(line) < 40
}

// page returns a manual page of a help: its first paragraphs are the description, and its sections are as they are.
func (r *release) page(name string, help []byte) []byte {
	var page bytes.Buffer
	fmt.Fprintf(&page, ".TH %q 1 %q %q %q\n", strings.ToUpper(name), r.time.UTC().Format("2006-01-02"), "podverdict "+r.version, "podverdict")
	lines := bufio.NewScanner(bytes.NewReader(help))
	first, plain := true, false
	for lines.Scan() {
		line := lines.Text()
		switch {
		case first:
			summary := strings.TrimRight(line, ".:")
			fmt.Fprintf(&page, ".SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n%s\n", roff(name), roff(summary), roff(line))
			first = false
		case isTitle(line):
			fmt.Fprintf(&page, ".fi\n.SH %q\n.nf\n", strings.ToUpper(strings.TrimSuffix(line, ":")))
			plain = true
		case line == "" && plain:
			plain = false
		default:
			fmt.Fprintf(&page, "%s\n", roff(line))
			plain = false
		}
	}
	page.WriteString(".fi\n")
	return page.Bytes()
}

// roff escapes what a manual page would take for a request.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		return `\&` + line
	}
	return line
}
