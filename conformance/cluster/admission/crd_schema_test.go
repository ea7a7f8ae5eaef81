//go:build cluster

package admission

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
)

// schemaRule is one rule of a schema: a path such as spec.rules[].name, and a keyword such as maxLength. For rules in
// CEL, the message is the keyword.
type schemaRule struct{ kind, path, keyword string }

func (r schemaRule) String() string { return fmt.Sprintf("%s %s %s", r.kind, r.path, r.keyword) }

// schemaRules returns the schema's rules for the spec and the status of both kinds. It omits the rules of Kubernetes'
// conditions, and types: see TestTypes.
func schemaRules(t *testing.T) []schemaRule {
	t.Helper()
	var all []schemaRule
	for _, d := range definitionsOf(t) {
		root := d.Spec.Versions[0].Schema.OpenAPIV3Schema
		w := walker{kind: d.Spec.Names.Kind}
		w.walk("", *root)
		all = append(all, w.rules...)
	}
	return all
}

type walker struct {
	kind  string
	rules []schemaRule
}

func (w *walker) add(path, keyword string, present bool) {
	if present {
		w.rules = append(w.rules, schemaRule{w.kind, path, keyword})
	}
}

func (w *walker) walk(path string, s apiextensionsv1.JSONSchemaProps) {
	w.add(path, "minLength", s.MinLength != nil)
	w.add(path, "maxLength", s.MaxLength != nil)
	w.add(path, "pattern", s.Pattern != "")
	w.add(path, "enum", s.Enum != nil)
	w.add(path, "minimum", s.Minimum != nil)
	w.add(path, "maximum", s.Maximum != nil)
	w.add(path, "minItems", s.MinItems != nil)
	w.add(path, "maxItems", s.MaxItems != nil)
	w.add(path, "maxProperties", s.MaxProperties != nil)
	w.add(path+"[]", "unique", ptr.Deref(s.XListType, "") == "set" || s.XListMapKeys != nil)
	for _, v := range s.XValidations {
		w.add(path+v.FieldPath, v.Message, true)
	}
	for _, name := range s.Required {
		w.add(join(path, name), "required", true)
	}
	if strings.HasSuffix(path, ".conditions") {
		return
	}
	for name, below := range s.Properties {
		w.walk(join(path, name), below)
	}
	if s.Items != nil {
		w.walk(path+"[]", *s.Items.Schema)
	}
	if s.AdditionalProperties != nil {
		w.walk(path+"{}", *s.AdditionalProperties.Schema)
	}
}

func join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

var (
	index = regexp.MustCompile(`\[\d+\]`)
	key   = regexp.MustCompile(`matchLabels\[.*\]`)
)

// fired returns the rule that a cause violates.
func (c cause) fired(kind string) schemaRule {
	path := key.ReplaceAllString(index.ReplaceAllString(c.field, "[]"), "matchLabels{}")
	keyword := c.message[strings.LastIndex(c.message, ": ")+2:]
	switch c.typ {
	case "FieldValueRequired":
		keyword = "required"
	case "FieldValueTooLong":
		keyword = "maxLength"
	case "FieldValueTooMany":
		keyword = "maxItems"
		if strings.HasSuffix(path, "matchLabels") {
			keyword = "maxProperties"
		}
	case "FieldValueNotSupported":
		keyword = "enum"
	case "FieldValueDuplicate":
		keyword = "unique"
	default:
		for said, is := range map[string]string{
			"should match": "pattern", "chars long": "minLength", "should have at least": "minItems",
			"greater than or equal to": "minimum", "less than or equal to": "maximum",
		} {
			if strings.Contains(c.message, " in body ") && strings.Contains(c.message, said) {
				keyword = is
			}
		}
	}
	return schemaRule{kind, path, keyword}
}

// paths collects the paths of all values in a value, as in a schemaRule, with the maximum length of each list.
func paths(path string, value any, seen map[string]int) {
	seen[path] = max(seen[path], 1)
	switch v := value.(type) {
	case map[string]any:
		for name, below := range v {
			if strings.HasSuffix(path, ".matchLabels") {
				paths(path+"{}", below, seen)
			} else {
				paths(join(path, name), below, seen)
			}
		}
	case []any:
		for _, element := range v {
			paths(path+"[]", element, seen)
		}
		if len(v) > 0 {
			seen[path+"[]"] = max(seen[path+"[]"], len(v))
		}
	}
}
