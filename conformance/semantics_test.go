package conformance_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const semantics = "SEMANTICS.md"

// lastItems lists the parts of the semantics and their last items. Numbers continue from one part to the next.
var lastItems = []struct {
	part string
	last int
}{{"A", 29}, {"B", 47}, {"C", 60}, {"D", 68}, {"E", 77}, {"F", 82}}

var (
	itemHeading = regexp.MustCompile(`(?m)^### (.*)\n\n((?:.+\n)+)`)
	citation    = regexp.MustCompile(`\b[A-F]\.[0-9]{1,2}\b`)
	// numberedCase matches the name of a test case of controller/plan that begins with the numbers of items.
	numberedCase = regexp.MustCompile(`"([0-9]{2}(?:, [0-9]{2})*): `)
)

// expectedItems returns the names of all items in order.
func expectedItems() []string {
	var names []string
	for _, p := range lastItems {
		for len(names) < p.last {
			names = append(names, fmt.Sprintf("%s.%d", p.part, len(names)+1))
		}
	}
	return names
}

// TestSemanticsAreNumbered checks that every item has a heading, a text and a source, in order and without gaps.
func TestSemanticsAreNumbered(t *testing.T) {
	text, err := os.ReadFile(semantics)
	if err != nil {
		t.Fatal(err)
	}
	found := itemHeading.FindAllStringSubmatch(string(text), -1)
	want := expectedItems()
	if len(found) != len(want) {
		t.Fatalf("%s has %d items, want %d", semantics, len(found), len(want))
	}
	for i, item := range found {
		if item[1] != want[i] {
			t.Fatalf("item %d has the heading %q, want %q", i+1, item[1], want[i])
		}
		if !strings.Contains(item[2], "Source: ") {
			t.Errorf("%s has no source", item[1])
		}
	}
}

// TestCitedSemanticsExist checks that each item exists that a vector, a life, a test, a comment or a document cites.
func TestCitedSemanticsExist(t *testing.T) {
	items := map[string]bool{}
	for _, name := range expectedItems() {
		items[name] = true
	}
	files, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--",
		":/*.go", ":/*.md", ":/*.txtar").Output()
	if err != nil {
		t.Fatal(err)
	}
	cited := 0
	for file := range strings.SplitSeq(strings.TrimRight(string(files), "\x00"), "\x00") {
		text, err := os.ReadFile(file)
		if os.IsNotExist(err) {
			continue // removed, but not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range citations(file, string(text)) {
			cited++
			// Tests of vectors have a header that is rejected because the item does not exist.
			if !items[name] && (name != "A.30" || !strings.HasSuffix(file, "vectors/verdict_test.go")) {
				t.Errorf("%s cites %s, which %s does not have", file, name, semantics)
			}
		}
	}
	if cited < 300 {
		t.Errorf("found %d citations, want at least 300", cited)
	}
}

// citations returns the items that a file cites by letter and number, or by number only in case names of controller/plan.
func citations(file, text string) []string {
	if strings.HasSuffix(file, "semantics_test.go") {
		return nil
	}
	names := citation.FindAllString(text, -1)
	if strings.Contains(file, "controller/plan/") && strings.HasSuffix(file, "_test.go") {
		for _, found := range numberedCase.FindAllStringSubmatch(text, -1) {
			for number := range strings.SplitSeq(found[1], ", ") {
				names = append(names, itemOf(number))
			}
		}
	}
	return names
}

// itemOf returns the name of the item with a number, or the number if there is no such item.
func itemOf(number string) string {
	n, _ := strconv.Atoi(number)
	if names := expectedItems(); 1 <= n && n <= len(names) {
		return names[n-1]
	}
	return number
}
