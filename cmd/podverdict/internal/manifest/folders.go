package manifest

import (
	"path/filepath"
	"slices"
	"strings"
)

// Part is a part of a Set, with the indexes that its Jobs have in the whole.
type Part struct {
	Set

	At []int
}

// Parts returns the Set in parts that know nothing of each other: if an object is given in two folders of a repository, these are
// for two clusters or two examples. Without such objects the whole is one part.
func (s *Set) Parts() []Part {
	folders := []string{""}
	s.doubles(func(_, _ string, o, first Origin) {
		folder := apart(o.Document.File, first.Document.File)
		if folder == "" {
			folder = apart(first.Document.File, o.Document.File)
		}
		if folder != "" && !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	})
	parts := make([]Part, len(folders))
	in := func(o Origin) *Part {
		part := 0
		for i, folder := range folders {
			if strings.HasPrefix(slashed(o.Document.File), folder) && len(folder) > len(folders[part]) {
				part = i
			}
		}
		return &parts[part]
	}
	for i, job := range s.Jobs {
		part := in(job.Origin)
		part.Jobs, part.At = append(part.Jobs, job), append(part.At, i)
	}
	for _, p := range s.Policies {
		part := in(p.Origin)
		part.Policies = append(part.Policies, p)
	}
	for _, b := range s.Bindings {
		part := in(b.Origin)
		part.Bindings = append(part.Bindings, b)
	}
	for _, n := range s.Namespaces {
		part := in(n.Origin)
		part.Namespaces = append(part.Namespaces, n)
	}
	return parts
}

func slashed(file string) string { return filepath.ToSlash(filepath.Clean(file)) }

// apart returns the widest folder that has a file and not another one, with a slash at its end. It returns "" if there is none.
func apart(file, other string) string {
	folder, beside := slashed(file), slashed(other)
	for end := range len(folder) {
		if folder[end] == '/' && !strings.HasPrefix(beside, folder[:end+1]) {
			return folder[:end+1]
		}
	}
	return ""
}
