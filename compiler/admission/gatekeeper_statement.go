package admission

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// statement is a rule of a Rego module as it stands there, with the comment above it, less METADATA.
type statement struct {
	folder string // that of its package
	name   string // of the rule, without what is in brackets
	text   string
}

// readStatements reads the modules of a package, tests aside, in the order of their files.
func readStatements(bundle fs.FS, folder string) ([]statement, error) {
	files, err := fs.Glob(bundle, path.Join(folder, "*.rego"))
	if err != nil {
		return nil, err
	}
	var all []statement
	for _, file := range files {
		if strings.HasSuffix(file, "_test.rego") {
			continue
		}
		text, err := fs.ReadFile(bundle, file)
		if err != nil {
			return nil, err
		}
		all = append(all, statements(folder, string(text))...)
	}
	return all, nil
}

// statements takes a module apart. As opa fmt writes it there is an empty line between statements, and after an empty
// line within one there is an indented line.
func statements(folder, module string) []statement {
	var all []statement
	for part := range strings.SplitSeq(strings.TrimSpace(module), "\n\n") {
		if strings.HasPrefix(part, "\t") {
			all[len(all)-1].text += "\n\n" + part
			continue
		}
		if strings.HasPrefix(part, "# METADATA\n") {
			part = withoutComment(part)
		}
		all = append(all, statement{folder, ruleName(part), part})
	}
	return slices.DeleteFunc(all, func(s statement) bool { return s.name == "" || s.name == "package" || s.name == "import" })
}

// ruleName is empty where there is no more than a comment.
func ruleName(text string) string {
	return word.FindString(strings.TrimPrefix(withoutComment(text), "default "))
}

// withoutComment leaves out the comment above a rule.
func withoutComment(text string) string {
	for strings.HasPrefix(text, "#") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

var (
	word    = regexp.MustCompile(`[A-Za-z_]\w*`)
	mention = regexp.MustCompile(`([A-Za-z_]\w*)(\.[A-Za-z_]\w*)?`)
)

// isRule tells whether this is where something is found, and not what helps.
func (s statement) isRule() bool {
	return slices.Contains([]string{"findings", "warnings", "breaches"}, s.name)
}

// finds tells whether this is where the breaches of a rule are found.
func (s statement) finds(id string) bool { return strings.Contains(withoutComment(s.text), `"`+id+`"`) }

// only is the statement, or, of an object by the ids of guardrails, the one member.
func (s statement) only(id string) statement {
	if !strings.Contains(s.text, " := {\n\t\"G-") {
		return s
	}
	var kept strings.Builder
	keep := true
	for line := range strings.Lines(s.text) {
		switch {
		case strings.HasPrefix(line, "\t\"G-"):
			keep = strings.HasPrefix(line, "\t\""+id+`": `)
		case strings.HasPrefix(line, "}"):
			keep = true
		}
		if keep {
			kept.WriteString(line)
		}
	}
	s.text = kept.String()
	return s
}

// mentions are the names that the statement may speak of, each after its package's folder. A word that only looks like
// a name counts too.
func (s statement) mentions() map[string]bool {
	all := map[string]bool{}
	for _, found := range mention.FindAllStringSubmatch(withoutComment(s.text), -1) {
		all[found[0]] = true
		all[s.folder+"."+found[1]] = true
	}
	return all
}

// needed are those of the known statements that others mention, or that those mention, in the order in which they are known.
func needed(known, by []statement) []statement {
	taken := make([]bool, len(known))
	for open := slices.Clone(by); len(open) > 0; open = open[1:] {
		mentioned := open[0].mentions()
		for i, s := range known {
			if !taken[i] && mentioned[s.folder+"."+s.name] {
				taken[i] = true
				open = append(open, s)
			}
		}
	}
	var all []statement
	for i, s := range known {
		if taken[i] {
			all = append(all, s)
		}
	}
	return all
}
