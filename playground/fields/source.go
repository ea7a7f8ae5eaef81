package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// source reads the Go types of Kubernetes' API into a table.
type source struct {
	table     table
	constants map[string]map[string]string // descriptions of constants by type and value
	read      map[string]bool              // packages whose constants have been read
}

// described is implemented by types that know the descriptions of their fields.
type described interface{ SwaggerDoc() map[string]string }

// addKind adds the kind of an object.
func (s *source) addKind(apiVersion string, object any) error {
	t := reflect.TypeOf(object)
	s.table.Kinds[t.Name()] = root{apiVersion, typeID(t)}
	if err := s.addStruct(t); err != nil {
		return err
	}
	fields := s.table.Types[typeID(t)]
	identify(fields, apiVersion, t.Name())
	return nil
}

// identify restricts an object's apiVersion and kind to one value each.
func identify(fields map[string]field, apiVersion, kind string) {
	for name, value := range map[string]string{"apiVersion": apiVersion, "kind": kind} {
		f := fields[name]
		f.Values, f.Required = map[string]string{value: ""}, true
		fields[name] = f
	}
}

// addStruct adds a type and the types of its fields.
func (s *source) addStruct(t reflect.Type) error {
	id := typeID(t)
	if s.table.Types[id] != nil {
		return nil
	}
	s.table.Types[id] = map[string]field{}
	return s.addFields(id, t)
}

// addFields adds the fields of a struct, and of structs embedded in it, to a type.
func (s *source) addFields(id string, t reflect.Type) error {
	about := map[string]string{}
	if d, ok := reflect.TypeAssert[described](reflect.Zero(t)); ok {
		about = d.SwaggerDoc()
	}
	for member := range t.Fields() {
		name, _, _ := strings.Cut(member.Tag.Get("json"), ",")
		if name == "" && member.Anonymous {
			if err := s.addFields(id, member.Type); err != nil {
				return err
			}
			continue
		}
		if name == "" || name == "-" {
			continue
		}
		f, err := s.field(member.Type)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", id, name, err)
		}
		f.About = unwrapped(about[name])
		s.table.Types[id][name] = f
	}
	return nil
}

// field returns the description of a field with a Go type, and adds the types that it refers to.
func (s *source) field(t reflect.Type) (f field, err error) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 {
		f.List, t = true, t.Elem()
	}
	switch {
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()):
		return f, nil // encodes itself, such as a time or a quantity
	case t.Kind() == reflect.Struct:
		f.Type = typeID(t)
		return f, s.addStruct(t)
	case t.Kind() == reflect.Bool:
		f.Values = map[string]string{"true": "", "false": ""}
	case t.Kind() == reflect.String:
		f.Values, err = s.values(t)
	case t.Kind() == reflect.Map:
		f.Type, err = s.addMap(t)
	}
	return f, err
}

// addMap adds the type of a map whose keys are constants, such as the resources of a container, and returns its id.
func (s *source) addMap(t reflect.Type) (string, error) {
	keys, err := s.values(t.Key())
	if err != nil || len(keys) == 0 {
		return "", err
	}
	id := typeID(t)
	s.table.Types[id] = map[string]field{}
	for key, about := range keys {
		s.table.Types[id][key] = field{About: about}
	}
	return id, nil
}

// values returns the constants of a string type with their comments.
func (s *source) values(t reflect.Type) (map[string]string, error) {
	if t.PkgPath() != "" && !s.read[t.PkgPath()] {
		s.read[t.PkgPath()] = true
		if err := s.readConstants(t.PkgPath()); err != nil {
			return nil, err
		}
	}
	return s.constants[t.PkgPath()+"."+t.Name()], nil
}

// readConstants reads the constants of a package.
func (s *source) readConstants(path string) error {
	found, err := build.Import(path, ".", 0)
	if err != nil {
		return err
	}
	for _, name := range found.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(found.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			constants, ok := d.(*ast.GenDecl)
			if !ok || constants.Tok != token.CONST {
				continue
			}
			for _, spec := range constants.Specs {
				s.addConstant(path, spec.(*ast.ValueSpec)) //nolint:forcetypeassert // what a declaration of constants has
			}
		}
	}
	return nil
}

// addConstant adds a typed string constant.
func (s *source) addConstant(path string, spec *ast.ValueSpec) {
	name, ok := spec.Type.(*ast.Ident)
	if !ok || len(spec.Values) != 1 {
		return
	}
	literal, ok := spec.Values[0].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return
	}
	value, err := strconv.Unquote(literal.Value)
	if err != nil || value == "" {
		return
	}
	of := path + "." + name.Name
	all := s.constants[of]
	if all == nil {
		all = map[string]string{}
	}
	all[value] = prose(spec.Doc)
	s.constants[of] = all
}

// wrapped matches a line break inside a paragraph.
var wrapped = regexp.MustCompile(`([^\s:])\n([^\s-])`)

// unwrapped joins the lines of each paragraph of a text.
func unwrapped(text string) string { return wrapped.ReplaceAllString(text, "$1 $2") }

// prose returns the text of a comment without marker lines, which start with +.
func prose(comment *ast.CommentGroup) string {
	var lines []string
	for line := range strings.Lines(comment.Text()) {
		if !strings.HasPrefix(line, "+") {
			lines = append(lines, line)
		}
	}
	return unwrapped(strings.TrimSpace(strings.Join(lines, "")))
}

// typeID returns the name of a type in the table.
func typeID(t reflect.Type) string {
	path := strings.TrimPrefix(strings.TrimPrefix(t.PkgPath(), "k8s.io/api/"), "k8s.io/apimachinery/pkg/apis/")
	return path + "." + t.Name()
}
