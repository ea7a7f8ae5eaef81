package findings

import (
	"github.com/podverdict/podverdict/api/v1alpha1"
	"github.com/podverdict/podverdict/internal/input/manifest"
)

// list is the JSON and YAML form of a report.
type list struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Items      []Item `json:"items"`
}

// Item is a finding with its subject.
type Item struct {
	Job     *manifest.Reference `json:"job,omitempty"`
	Policy  string              `json:"policy,omitempty"`  // name of a PodFailurePolicy, instead of Job
	Binding string              `json:"binding,omitempty"` // name of a PodFailurePolicyBinding, instead of Job
	Kind    string              `json:"kind,omitempty"`    // kind of the Job's object, if not Job
	Finding
	Help   string `json:"help,omitempty"` // URL of the rule's page
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

func (r Report) list() list {
	return list{APIVersion: "podverdict.io/v1alpha1", Kind: "FindingList", Items: r.Items()}
}

// Items returns the findings in their JSON form.
func (r Report) Items() []Item {
	items := []Item{}
	for _, s := range r.Subjects {
		for _, f := range s.Findings {
			found := Item{Finding: f, Help: r.address(f.Check)}
			switch s.Kind {
			case v1alpha1.KindPodFailurePolicy:
				found.Policy = s.Name
			case v1alpha1.KindPodFailurePolicyBinding:
				found.Binding = s.Name
			case Document:
				found.File = s.File
			default:
				found.Job, found.Kind = &manifest.Reference{Namespace: s.Namespace, Name: s.Name}, s.Kind
			}
			if f.inFile() {
				found.File, found.Line, found.Column = f.At.File, f.At.Line, f.At.Column
			}
			items = append(items, found)
		}
	}
	return items
}
