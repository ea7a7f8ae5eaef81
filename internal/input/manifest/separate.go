package manifest

import (
	"path/filepath"
	"slices"
	"strings"
)

// Separate splits the Set into independent parts: if an object occurs in two folders of a repository, the folders are for two
// clusters or two examples. Without duplicate objects, the whole Set is one part.
func (s *Set) Separate() []*Set {
	folders := []string{""} // widest folders that repeat an object
	s.doubles(func(_, _ string, o, first Origin) {
		folder := apart(o, first)
		if folder == "" {
			folder = apart(first, o)
		}
		if !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	})
	parts := make([]*Set, len(folders))
	for i, folder := range folders {
		in := func(o Origin) bool {
			file := slashed(o)
			return strings.HasPrefix(file, folder) && !slices.ContainsFunc(folders, func(other string) bool {
				return len(other) > len(folder) && strings.HasPrefix(file, other)
			})
		}
		parts[i] = &Set{
			Jobs:       within(s.Jobs, func(j Job) bool { return in(j.Origin) }),
			Policies:   within(s.Policies, func(p Policy) bool { return in(p.Origin) }),
			Bindings:   within(s.Bindings, func(b Binding) bool { return in(b.Origin) }),
			Namespaces: within(s.Namespaces, func(n Namespace) bool { return in(n.Origin) }),
			Nodes:      s.Nodes,
		}
	}
	return parts
}

func within[T any](all []T, in func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(one T) bool { return !in(one) })
}

func slashed(o Origin) string { return filepath.ToSlash(filepath.Clean(o.Document.File)) }

// apart returns the widest folder that contains file but not other, with a trailing slash. It returns "" if there is none.
func apart(file, other Origin) string {
	folder, beside := slashed(file), slashed(other)
	for end := range folder {
		if folder[end] == '/' && !strings.HasPrefix(beside, folder[:end+1]) {
			return folder[:end+1]
		}
	}
	return ""
}
