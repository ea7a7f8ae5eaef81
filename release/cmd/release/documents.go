package main

import (
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
		if err := write(filepath.Join(r.work, "completions", name), script); err != nil {
			return err
		}
	}
	script, err := r.ask(ctx, "completion", "kubectl")
	if err != nil {
		return err
	}
	if err := write(filepath.Join(r.work, kubectlComplete), script); err != nil {
		return err
	}
	return r.writeManual(ctx, "say what a failed Pod means for its Kubernetes Job, and why")
}

// kubectlComplete is the program in the PATH that kubectl calls to complete "kubectl podverdict".
const kubectlComplete = "kubectl_complete-podverdict"

// documents returns the completions and manual pages.
func (r *release) documents() (members []member) {
	members = append(members, member{kubectlComplete, filepath.Join(r.work, kubectlComplete), 0o755})
	for _, folder := range []string{"completions", "man"} {
		found, _ := filepath.Glob(filepath.Join(r.work, folder, "*")) // the pattern is well formed
		for _, path := range slices.Sorted(slices.Values(found)) {
			members = append(members, member{folder + "/" + filepath.Base(path), path, 0o644})
		}
	}
	return members
}

// verbLine is a verb, with what it does, in the help of the one above it.
var verbLine = regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) {2,}(\S.*)$`)

// writeManual writes the pages of a command, and of those below it. What the help of the one above says of it is its short description.
// Words that are no command get the help of another one, and no page.
func (r *release) writeManual(ctx context.Context, short string, words ...string) error {
	help, err := r.ask(ctx, append(slices.Clone(words), "--help")...)
	if err != nil {
		return err
	}
	if used := regexp.MustCompile(`(?m)^  ` + strings.Join(append([]string{cli}, words...), " ") + `( |$)`); !used.Match(help) {
		return nil
	}
	name := strings.Join(append([]string{cli}, words...), "-")
	if err := write(filepath.Join(r.work, "man", name+".1"), r.page(name, short, string(help))); err != nil {
		return err
	}
	for _, verb := range verbLine.FindAllStringSubmatch(string(help), -1) {
		below := append(slices.Clone(words), verb[1])
		if err := r.writeManual(ctx, verb[2], below...); err != nil {
			return err
		}
	}
	return nil
}

// title begins a section of a help, and an indented line belongs to it. Other text is the description.
var title = regexp.MustCompile(`^[A-Z][A-Za-z ]*:$`)

// sections returns the parts of a help by their titles, and the titles in their order.
func sections(help string) (parts map[string][]string, titles []string) {
	parts = map[string][]string{}
	current := ""
	for line := range strings.Lines(help) {
		line = strings.TrimRight(line, "\n")
		switch {
		case title.MatchString(line):
			current = strings.ToUpper(strings.TrimSuffix(line, ":"))
			titles = append(titles, current)
			continue
		case line != "" && line[0] != ' ':
			current = "DESCRIPTION"
		}
		if line != "" || len(parts[current]) > 0 {
			parts[current] = append(parts[current], line)
		}
	}
	return parts, titles
}

// page returns a manual page of a help. Its lines stay as they are.
func (r *release) page(name, short, help string) []byte {
	var page bytes.Buffer
	fmt.Fprintf(&page, ".TH %q 1 %q %q\n", strings.ToUpper(name), r.time.UTC().Format("2006-01-02"), "podverdict "+r.version)
	fmt.Fprintf(&page, ".SH NAME\n%s \\- %s\n", roff(name), roff(short))
	parts, titles := sections(help)
	parts["SYNOPSIS"] = parts["USAGE"]
	for _, title := range slices.Concat([]string{"SYNOPSIS", "DESCRIPTION"}, titles) {
		if title == "USAGE" || len(parts[title]) == 0 {
			continue
		}
		fmt.Fprintf(&page, ".SH %s\n.nf\n", title)
		for line := range strings.SplitSeq(strings.TrimRight(strings.Join(parts[title], "\n"), "\n"), "\n") {
			fmt.Fprintln(&page, roff(line))
		}
		page.WriteString(".fi\n")
	}
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
