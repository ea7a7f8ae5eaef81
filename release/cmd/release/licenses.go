package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/mod/module"
)

// thirdParty is the file with the licenses of what is linked into a program: they ask to be handed on with it.
const thirdParty = "THIRD_PARTY_LICENSES"

// licenses returns where the licenses of a program are.
func (r *release) licenses(p platform, name string) string {
	return filepath.Join(r.work, "build", p.String(), name+"."+thirdParty)
}

// writeLicenses writes the licenses of each program.
func (r *release) writeLicenses(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT", "GOMODCACHE").Output()
	if err != nil {
		return err
	}
	folders := strings.Split(string(out), "\n")
	for _, p := range r.platforms {
		for _, name := range p.programs() {
			info, err := buildinfo.ReadFile(r.binary(p, name))
			if err != nil {
				return err
			}
			text, err := licenses(info, folders[0], folders[1])
			if err != nil {
				return err
			}
			if err := write(r.licenses(p, name), []byte(text)); err != nil {
				return err
			}
		}
	}
	return nil
}

// licenses returns the licenses and notices of Go and of the modules in a program. A text that several have is there once.
func licenses(info *buildinfo.BuildInfo, root, cache string) (string, error) {
	var texts []string
	owners := map[string][]string{}
	add := func(owner, folder string) error {
		found, err := licenseTexts(folder)
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("%s has no license", owner)
		}
		for _, text := range found {
			if owners[text] == nil {
				texts = append(texts, text)
			}
			owners[text] = append(owners[text], owner)
		}
		return err
	}
	if err := add("Go "+info.GoVersion, root); err != nil {
		return "", err
	}
	for _, m := range info.Deps {
		folder, err := moduleFolder(m, cache)
		if err != nil {
			return "", err
		}
		if err := add(m.Path+" "+m.Version, folder); err != nil {
			return "", err
		}
	}
	var all strings.Builder
	for _, text := range texts {
		fmt.Fprintf(&all, "%s\n%s\n\n%s\n\n", strings.Repeat("=", 80), strings.Join(owners[text], "\n"), text)
	}
	return all.String(), nil
}

// moduleFolder returns where the go command has put a module.
func moduleFolder(m *debug.Module, cache string) (string, error) {
	if m.Replace != nil {
		m = m.Replace
	}
	escaped, err := module.EscapePath(m.Path)
	return filepath.Join(cache, filepath.FromSlash(escaped)+"@"+m.Version), err
}

var licenseName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|copyright|patents)([.-].*)?$`)

// licenseTexts returns the licenses and notices in a folder.
func licenseTexts(folder string) (texts []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !licenseName.MatchString(entry.Name()) || filepath.Ext(entry.Name()) == ".go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		if text := strings.TrimSpace(string(text)); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts, nil
}
