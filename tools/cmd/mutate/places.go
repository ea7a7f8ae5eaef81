package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// mutant is one change of one file.
type mutant struct {
	Package  string `json:"package"`
	File     string `json:"file"` // from the repository's root
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Operator string `json:"operator"`
	Before   string `json:"before"`
	After    string `json:"after"`

	file       *file
	function   *ast.FuncDecl // in which it is, or nil
	start, end int           // of what becomes After, in bytes
}

// key returns a text that no other mutant of the same sources has.
func (m *mutant) key() string {
	return fmt.Sprintf("%s:%d:%d %s %s", m.File, m.Line, m.Column, m.Operator, m.After)
}

// file is a source file.
type file struct {
	*ast.File

	files  *token.FileSet
	source []byte
}

func (f *file) offset(at token.Pos) int { return f.files.Position(at).Offset }

func (f *file) text(from, to token.Pos) string { return string(f.source[f.offset(from):f.offset(to)]) }

// operators are the exchanges of one operator by another; a comparison has its opposite and its boundary.
var operators = map[token.Token][]token.Token{
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD},
	token.MUL: {token.QUO}, token.QUO: {token.MUL}, token.REM: {token.MUL},
	token.AND: {token.OR}, token.OR: {token.AND},
	token.SHL: {token.SHR}, token.SHR: {token.SHL},
	token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN},
}

// constants are exchanged for their neighbours or opposites.
var constants = map[string]string{"0": "1", "1": "0", "2": "3", "true": "false", "false": "true"}

// finder collects the mutants of one file.
type finder struct {
	*file

	mutant  // what all of them share
	mutants []*mutant
}

// mutantsOf returns all mutants of a package's sources, in the order of the text: of no tests and no generated files.
func mutantsOf(root, folder string) ([]*mutant, error) {
	names, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil {
		return nil, err
	}
	var all []*mutant
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files, inside := token.NewFileSet(), path.Join(folder, filepath.Base(name))
		syntax, err := parser.ParseFile(files, inside, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if ast.IsGenerated(syntax) {
			continue
		}
		f := &finder{file: &file{File: syntax, files: files, source: source}}
		f.Package, f.mutant.File, f.mutant.file = folder, inside, f.file
		for _, declaration := range syntax.Decls {
			f.function, _ = declaration.(*ast.FuncDecl)
			ast.Inspect(declaration, f.visit)
		}
		all = append(all, f.mutants...)
	}
	return all, nil
}

func (f *finder) visit(node ast.Node) bool {
	switch node := node.(type) {
	case *ast.ImportSpec:
		return false
	case *ast.BinaryExpr:
		f.exchange(node.Op, node.OpPos)
	case *ast.AssignStmt:
		f.exchange(node.Tok, node.TokPos)
	case *ast.IncDecStmt:
		f.change("increment", node.TokPos, node.End(), map[token.Token]string{token.INC: "--", token.DEC: "++"}[node.Tok])
	case *ast.UnaryExpr:
		if node.Op == token.NOT {
			f.change("negation", node.OpPos, node.X.Pos(), "")
		}
	case *ast.IfStmt:
		f.negate(node.Cond)
	case *ast.BasicLit, *ast.Ident:
		text := f.text(node.Pos(), node.End())
		if after, found := constants[text]; found {
			f.change("constant", node.Pos(), node.End(), after)
		}
	case *ast.BranchStmt:
		f.branch(node)
	case *ast.CompositeLit:
		f.dropFields(node)
	case *ast.BlockStmt:
		f.dropStatements(node.List)
	case *ast.CaseClause:
		f.dropStatements(node.Body)
	case *ast.CommClause:
		f.dropStatements(node.Body)
	}
	return true
}

func (f *finder) exchange(operator token.Token, at token.Pos) {
	for _, other := range operators[operator] {
		f.change("operator", at, at+token.Pos(len(operator.String())), other.String())
	}
}

// negate leaves comparisons and negations to their operators.
func (f *finder) negate(condition ast.Expr) {
	switch condition := condition.(type) {
	case *ast.BinaryExpr:
		if condition.Op != token.LAND && condition.Op != token.LOR {
			return
		}
	case *ast.UnaryExpr:
		return
	}
	f.change("condition", condition.Pos(), condition.End(), "!("+f.text(condition.Pos(), condition.End())+")")
}

func (f *finder) branch(statement *ast.BranchStmt) {
	if after, found := map[token.Token]string{token.BREAK: "continue", token.CONTINUE: "break"}[statement.Tok]; found {
		f.change("branch", statement.TokPos, statement.TokPos+token.Pos(len(statement.Tok.String())), after)
	}
}

// dropFields removes each named field or key of a literal, with the comma behind it.
func (f *finder) dropFields(literal *ast.CompositeLit) {
	for _, element := range literal.Elts {
		if pair, named := element.(*ast.KeyValueExpr); named {
			end := pair.End()
			rest := f.source[f.offset(end):]
			if blank := len(rest) - len(bytes.TrimLeft(rest, " \t\n")); bytes.HasPrefix(rest[blank:], []byte(",")) {
				end += token.Pos(blank + 1)
			}
			f.change("field", pair.Pos(), end, "")
		}
	}
}

// dropStatements removes each statement that declares nothing. Logging is not behaviour that tests hold.
func (f *finder) dropStatements(statements []ast.Stmt) {
	for _, statement := range statements {
		switch statement := statement.(type) {
		case *ast.AssignStmt:
			if statement.Tok == token.DEFINE {
				continue
			}
		case *ast.ExprStmt:
			if text := f.text(statement.Pos(), statement.End()); strings.HasPrefix(text, "klog.") || strings.HasPrefix(text, "logger.") {
				continue
			}
		case *ast.ReturnStmt, *ast.DeferStmt, *ast.GoStmt, *ast.IncDecStmt, *ast.SendStmt:
		default:
			continue
		}
		f.change("statement", statement.Pos(), statement.End(), "")
	}
}

func (f *finder) change(operator string, from, to token.Pos, after string) {
	m, position := f.mutant, f.files.Position(from)
	m.Line, m.Column, m.Operator = position.Line, position.Column, operator
	m.start, m.end = f.offset(from), f.offset(to)
	m.Before, m.After = f.text(from, to), after
	if m.function != nil && (m.function.Body == nil || from < m.function.Body.Pos()) {
		m.function = nil
	}
	f.mutants = append(f.mutants, &m)
}
