package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/internal/evidence"
)

// hostile are values that try to break out of their place in the page.
var hostile = []string{
	`</script><script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `"><svg onload=alert(1)>`, `' onmouseover='alert(1)`,
	`<!--`, `]]>`, `</th></tr></table>`, `%s%d`, `&lt;b&gt;`, "a\x00b\x1b[31m\u202ec\u2028d", "\xff\xfe", `javascript:alert(1)`,
}

// reportOf returns a report with the values in every place that holds one.
func reportOf(values []string) *evidence.Report {
	r := &evidence.Report{
		First: time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC), Last: time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC),
		Jobs: map[evidence.State]int64{evidence.Failed: 7, evidence.Complete: 5}, WithoutRules: 1234567, Unknown: 2,
	}
	r.Total = rowAt("", 1200)
	for _, by := range []evidence.Dimension{evidence.ByClass, evidence.ByNode, evidence.ByImage, evidence.ByDay} {
		s := evidence.Section{By: by, More: 3, Rest: new(rowAt("", 3))}
		for i, value := range values {
			if by == evidence.ByDay {
				value = fmt.Sprintf("2026-11-%02d", 1+2*i%30)
			}
			s.Rows = append(s.Rows, rowAt(value, int64(len(values)-i)))
		}
		r.Sections = append(r.Sections, s)
	}
	for _, value := range values {
		r.Idle = append(r.Idle, evidence.IdleRule{Rule: value, Owner: value, Failed: 5})
		r.Causes = append(r.Causes, evidence.Cause{Kind: "node", Row: rowAt(value, 3), Text: "node " + value + " failed 3 of 4 attempts"})
	}
	return r
}

func rowAt(value string, n int64) evidence.Row {
	row := evidence.Row{Value: value, Cell: evidence.Cell{Attempts: 10 * n, Failed: 3 * n, Jobs: n, Completed: n / 2, Ignored: n, Stopped: n, Retried: 2 * n, Recovered: n, VainAttempts: n}}
	row.Hours = map[corev1.ResourceName]float64{"cpu": 1.5 * float64(n), "memory": 123.456 * float64(n), "example.com/gpu": 0.004}
	row.VainHours = map[corev1.ResourceName]float64{"cpu": float64(n)}
	return row
}

func pageOf(t *testing.T, r *evidence.Report, command string) string {
	t.Helper()
	var out bytes.Buffer
	if err := writeHTML(&out, r, []string{command}, command, "v0.0.0"); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestValuesAreNoMarkup checks that the page has the same elements and attributes for all values.
func TestValuesAreNoMarkup(t *testing.T) {
	tame := make([]string, len(hostile))
	for i := range tame {
		tame[i] = fmt.Sprintf("value-%d", i)
	}
	_, want := split(pageOf(t, reportOf(tame), "podverdict report"))
	text, got := split(pageOf(t, reportOf(hostile), "podverdict report "+strings.Join(hostile, " ")))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, shown := range []string{"&lt;/script&gt;&lt;script&gt;", "&amp;lt;b&amp;gt;", `a\x00b\x1b[31m\u202ec\u2028d`, `\xff\xfe`, "1,234,567", "%s%d", "stopped"} {
		if !strings.Contains(text, shown) {
			t.Errorf("the page does not show %s", shown)
		}
	}
}

// split returns the text of a page, and its tags with the scripts and the style.
func split(page string) (text string, tags []string) {
	tag := regexp.MustCompile(`(?s)<script>.*?</script>|<style>.*?</style>|<[^>]*>`)
	return tag.ReplaceAllString(page, " "), tag.FindAllString(page, -1)
}

// TestReportsOfAllSizes checks that an empty report is a complete page, too.
func TestReportsOfAllSizes(t *testing.T) {
	for name, r := range map[string]*evidence.Report{
		"nothing": {Sections: []evidence.Section{{By: evidence.ByNode}}},
		"one row": reportOf([]string{"node-1"}),
		"many":    reportOf(strings.Split(strings.Repeat("registry.example.com/a-very-long-name-of-a-team/"+strings.Repeat("x", 200)+" ", 1000), " ")),
	} {
		page := pageOf(t, r, "podverdict report")
		if !strings.HasSuffix(page, "</body>\n</html>\n") || strings.Contains(page, "%!") {
			t.Errorf("%s: the page ends with %q", name, page[len(page)-100:])
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 0.004: "0.004", 1.234: "1.23", 12.34: "12.3", 99.96: "100.0", 123.5: "124", 1234567: "1,234,567"} {
		if got := hours(n); got != want {
			t.Errorf("%v hours are written as %s, want %s", n, got, want)
		}
	}
}
