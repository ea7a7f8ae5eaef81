package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// schema is the part of GitHub's that the action uses.
var schema = gqlparser.MustLoadSchema(&ast.Source{Name: "github", Input: `
	interface Node { id: ID! }
	type PullRequest implements Node { id: ID! comments(after: String, first: Int): IssueCommentConnection! }
	type IssueCommentConnection { nodes: [IssueComment] pageInfo: PageInfo! }
	type IssueComment implements Node { id: ID! body: String! viewerDidAuthor: Boolean! }
	type PageInfo { endCursor: String hasNextPage: Boolean! }
	input AddCommentInput { subjectId: ID! body: String! }
	input UpdateIssueCommentInput { id: ID! body: String! }
	type AddCommentPayload { clientMutationId: String }
	type UpdateIssueCommentPayload { clientMutationId: String }
	type Query { node(id: ID!): Node }
	type Mutation { addComment(input: AddCommentInput!): AddCommentPayload updateIssueComment(input: UpdateIssueCommentInput!): UpdateIssueCommentPayload }
`})

// comment is one of a pull request, as GitHub's API shows it.
type comment struct {
	ID   string `json:"id"`
	Body string `json:"body"`
	Mine bool   `json:"viewerDidAuthor"`
}

// gitHub stands for GitHub's API, with one pull request.
type gitHub struct {
	comments []comment
	refuses  string // queries that have this text
}

// environment has gh, which comes from Debian, ask this server: for this host it speaks HTTP.
func (g *gitHub) environment(t *testing.T) []string {
	t.Helper()
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	return []string{"GH_HOST=github.localhost", "HTTP_PROXY=" + server.URL, "http_proxy=" + server.URL, "GH_CONFIG_DIR=" + t.TempDir()}
}

// request is what gh posts.
type request struct {
	Query     string
	Variables struct{ Subject, ID, Body, EndCursor string }
}

func (g *gitHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked request
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.URL.Path != "/graphql" || r.Header.Get("Authorization") != "token secret" {
		http.Error(w, fmt.Sprintf("%s: %v", r.URL, err), http.StatusBadRequest)
		return
	}
	if g.refuses != "" && strings.Contains(asked.Query, g.refuses) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"message": "Resource not accessible by integration"}`))
		return
	}
	answer := map[string]any{}
	if data, err := g.answer(asked); err != nil {
		answer["errors"] = []any{map[string]any{"message": err.Error()}}
	} else {
		answer["data"] = data
	}
	text, err := json.Marshal(answer)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text)
}

// answer does what a valid query asks for. A page has two comments.
func (g *gitHub) answer(asked request) (any, error) {
	document, errs := gqlparser.LoadQueryWithRules(schema, asked.Query, rules.NewDefaultRules())
	if len(errs) > 0 {
		return nil, errs
	}
	given := asked.Variables
	if utf8.RuneCountInString(given.Body) > 65536 {
		return nil, fmt.Errorf("body is too long (%d characters, maximum is 65536)", utf8.RuneCountInString(given.Body))
	}
	switch field := document.Operations[0].SelectionSet[0].(*ast.Field).Name; {
	case field == "addComment" && given.Subject == "PR_7":
		g.comments = append(g.comments, comment{fmt.Sprintf("IC_%d", len(g.comments)), given.Body, true})
		return map[string]any{}, nil
	case field == "updateIssueComment":
		n := slices.IndexFunc(g.comments, func(c comment) bool { return c.ID == given.ID })
		if n < 0 {
			return nil, fmt.Errorf("could not resolve %q", given.ID)
		}
		g.comments[n].Body = given.Body
		return map[string]any{}, nil
	case field == "node" && given.Subject == "PR_7":
		from := 0
		_, _ = fmt.Sscan(given.EndCursor, &from)
		to := min(from+2, len(g.comments))
		page := map[string]any{"hasNextPage": to < len(g.comments), "endCursor": fmt.Sprint(to)}
		return map[string]any{"node": map[string]any{"comments": map[string]any{"nodes": append([]comment{}, g.comments[from:to]...), "pageInfo": page}}}, nil
	default:
		return nil, fmt.Errorf("could not resolve %+v", given)
	}
}

// commenting is the last step of the action, run again and again on a pull request.
type commenting struct {
	*checkout
	run         string
	environment []string
}

func newCommenting(t *testing.T, g *gitHub) *commenting {
	t.Helper()
	c := &checkout{folder: t.TempDir(), temp: t.TempDir()}
	c.environment = append(os.Environ(), "RUNNER_TEMP="+c.temp, "GITHUB_WORKFLOW=podverdict", "GITHUB_JOB=check", "PATHS=manifests", "PULL_REQUEST=PR_7", "GH_TOKEN=secret")
	steps := actionSteps(t)
	return &commenting{checkout: c, run: steps[len(steps)-1].Run, environment: g.environment(t)}
}

// comment runs the step when a pull request makes changes.
func (c *commenting) comment(t *testing.T, changes string, environment ...string) (stdout string, err error) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(c.temp, "podverdict-changes.md"), []byte(changes), 0o600); err != nil {
		t.Fatal(err)
	}
	return c.try(t, c.run, slices.Concat(c.environment, environment)...)
}

func (c *commenting) mustComment(t *testing.T, changes string, environment ...string) {
	t.Helper()
	if out, err := c.comment(t, changes, environment...); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// bodies are the comments without their first lines when these are markers.
func (g *gitHub) bodies() (texts []string) {
	for _, c := range g.comments {
		if marker, text, _ := strings.Cut(c.Body, "\n"); strings.HasPrefix(marker, "<!-- podverdict ") && strings.HasSuffix(marker, " -->") {
			texts = append(texts, "ours: "+text)
		} else {
			texts = append(texts, c.Body)
		}
	}
	return texts
}

// The same user writes for other workflows, and other users quote us.
func TestOnlyOwnCommentIsChanged(t *testing.T) {
	g := &gitHub{comments: []comment{{"IC_0", "please review", false}, {"IC_1", "coverage: 80 %", true}}}
	c := newCommenting(t, g)
	c.mustComment(t, "")
	want := []string{"please review", "coverage: 80 %"}
	same := func(after string) {
		t.Helper()
		if diff := cmp.Diff(want, g.bodies()); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", after, diff)
		}
	}
	same("nothing to say")
	c.mustComment(t, "## `a.yaml`\n")
	want = append(want, "ours: ## `a.yaml`\n")
	same("the first comment")
	marker, _, _ := strings.Cut(g.comments[2].Body, "\n")
	g.comments = append(g.comments, comment{"IC_3", "coverage: 81 %", true}, comment{"IC_4", "coverage: 82 %", true})
	g.comments = slices.Insert(g.comments, 0, comment{"IC_5", marker + "\ntrust me", false}, comment{"IC_6", "> " + marker, true})
	want = append(append([]string{"ours: trust me", "> " + marker}, want...), "coverage: 81 %", "coverage: 82 %")
	c.mustComment(t, "## `b.yaml` says \"\\n\", @user\n")
	want[4] = "ours: ## `b.yaml` says \"\\n\", @user\n"
	same("the second")
	for _, other := range []string{"GITHUB_WORKFLOW=nightly", "GITHUB_JOB=b", "PATHS=--> charts"} {
		c.mustComment(t, other, other)
		c.mustComment(t, other+" again", other)
		want = append(want, "ours: "+other+" again\n")
		same("that of another use")
	}
	c.mustComment(t, "")
	want[4] = "ours: No verdict changes.\n"
	same("the changes are taken back")
}

func TestLongCommentIsCut(t *testing.T) {
	for _, letter := range []string{"x", "ä", "\U0001f600"} {
		g := &gitHub{}
		c := newCommenting(t, g)
		c.mustComment(t, strings.Repeat("| "+strings.Repeat(letter, 100)+" |\n", 3000))
		body := g.comments[0].Body
		if !strings.HasSuffix(body, " |\n\nThis is cut: the rest is in the summary of the workflow run.\n") || len(body) < 60000 || !utf8.ValidString(body) {
			t.Errorf("%d bytes end with %q", len(body), body[len(body)-200:])
		}
	}
}

// A pull request from a fork has a token that may only read, which is not its author's fault.
func TestRefusedCommentIsAnError(t *testing.T) {
	for _, test := range []struct{ refused, fork, want string }{
		{"node(", "false", "::error::"}, {"addComment", "false", "::error::"}, {"addComment", "true", "::warning::"}, {"node(", "true", "::warning::"},
	} {
		c := newCommenting(t, &gitHub{refuses: test.refused})
		out, err := c.comment(t, "## `a.yaml`\n", "FORK="+test.fork)
		if (err != nil) != (test.fork == "false") || !strings.HasPrefix(out, test.want) || !strings.Contains(out, "pull-requests write") {
			t.Errorf("%+v: %v: %s", test, err, out)
		}
	}
	c := newCommenting(t, &gitHub{comments: []comment{{"IC_0", "", true}}})
	if out, err := c.comment(t, "a", "PULL_REQUEST=PR_8"); err == nil || !strings.Contains(err.Error(), "could not resolve") || !strings.Contains(out, "::error::") {
		t.Errorf("%v: %s", err, out)
	}
}
