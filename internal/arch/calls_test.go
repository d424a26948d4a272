package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// forbidden lists, by import path, the names that nobody may use but the folders named beside them.
var forbidden = []struct {
	path  string
	names []string
	homes []string // folders, with all below them
	tests bool     // tests are held to it as well
	why   string
}{
	{"time", []string{"After", "AfterFunc", "Sleep", "Tick", "NewTimer", "NewTicker"}, []string{"clock", "internal/pgtest"},
		true, "wait by a clock.Clock, or in a synctest bubble"},
	{"time", []string{"Now", "Since", "Until"}, []string{"clock", "internal/pgtest"}, false,
		"take now as an argument, or a clock.Clock in a loop"},
	{"fmt", []string{"Print", "Printf", "Println"}, nil, false, "write to the stream you were given"},
	{"log", []string{"Print", "Printf", "Println", "Output", "Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln", "New", "Default",
		"Writer"}, nil, false, "it is silenced (main): use the slog.Logger you were given"},
	{"net/http", []string{"DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm", "HandleFunc", "Handle"},
		nil, true, "what leaves the machine goes through the guarded client"},
	{"os", []string{"Exit"}, []string{"cmd", "internal/pgtest", "internal/freshbench", "internal/bench"}, false, "return an error"},
}

func TestNobodyCallsWhatIsKeptForOthers(t *testing.T) {
	t.Parallel()
	eachFile(t, func(path string, files *token.FileSet, file *ast.File) {
		imports := importNames(file)
		if imports["synctest"] == "testing/synctest" {
			delete(imports, "time") // inside a bubble time is a fake one
		}
		ast.Inspect(file, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if base, ok := selector.X.(*ast.Ident); ok && base.Obj == nil {
				checkCall(t, path, files.Position(n.Pos()), imports[base.Name], selector.Sel.Name)
			}
			return true
		})
	})
}

func checkCall(t *testing.T, path string, at token.Position, imported, name string) {
	t.Helper()
	for _, rule := range forbidden {
		if rule.path != imported || !slices.Contains(rule.names, name) {
			continue
		}
		if !rule.tests && strings.HasSuffix(path, "_test.go") {
			continue
		}
		home := slices.ContainsFunc(rule.homes, func(dir string) bool { return strings.HasPrefix(path, dir+"/") })
		if !home {
			t.Errorf("%s:%d uses %s.%s: %s", path, at.Line, imported, name, rule.why)
		}
	}
}

// A server without a log of its own writes what clients send to the standard one, byte for byte.
func TestServersHaveALogOfTheirOwn(t *testing.T) {
	t.Parallel()
	eachFile(t, func(path string, files *token.FileSet, file *ast.File) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		imports := importNames(file)
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			kind, ok := literal.Type.(*ast.SelectorExpr)
			if !ok || kind.Sel.Name != "Server" {
				return true
			}
			if base, ok := kind.X.(*ast.Ident); ok && imports[base.Name] == "net/http" && !setsField(literal, "ErrorLog") {
				t.Errorf("%s:%d makes a http.Server without ErrorLog", path, files.Position(n.Pos()).Line)
			}
			return true
		})
	})
}

func setsField(literal *ast.CompositeLit, name string) bool {
	return slices.ContainsFunc(literal.Elts, func(e ast.Expr) bool {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		key, ok := pair.Key.(*ast.Ident)
		return ok && key.Name == name
	})
}

// importNames maps the names that a file calls its imports by to their paths.
func importNames(file *ast.File) map[string]string {
	names := make(map[string]string)
	for _, spec := range file.Imports {
		path := strings.Trim(spec.Path.Value, `"`)
		name := path[strings.LastIndex(path, "/")+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = path
	}
	return names
}

// The bounds of a file and of a function, in lines.
const (
	fileLines     = 500
	functionLines = 70
)

func TestFilesAndFunctionsFitOnAPage(t *testing.T) {
	t.Parallel()
	eachFile(t, func(path string, files *token.FileSet, file *ast.File) {
		if n := files.Position(file.End()).Line; n > fileLines {
			t.Errorf("%s has %d lines, at most %d", path, n, fileLines)
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			first, last := files.Position(f.Pos()), files.Position(f.End())
			if n := last.Line - first.Line + 1; n > functionLines {
				t.Errorf("%s:%d %s has %d lines, at most %d", path, first.Line, f.Name.Name, n, functionLines)
			}
			if f.Name.Name == "init" && f.Recv == nil {
				t.Errorf("%s:%d has a func init: use a registry or an explicit call", path, first.Line)
			}
		}
	})
}

func TestExportedNamesAreDocumented(t *testing.T) {
	t.Parallel()
	eachFile(t, func(path string, files *token.FileSet, file *ast.File) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		for _, decl := range file.Decls {
			for _, name := range undocumented(decl) {
				t.Errorf("%s:%d exports %s without a doc comment", path, files.Position(decl.Pos()).Line, name)
			}
		}
	})
}

// undocumented lists the exported names that a declaration leaves without a comment of their own or of their group.
func undocumented(decl ast.Decl) (names []string) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			names = append(names, undocumentedSpec(d, spec)...)
		}
	}
	return names
}

func undocumentedSpec(d *ast.GenDecl, spec ast.Spec) (names []string) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if d.Doc == nil && s.Doc == nil && s.Name.IsExported() {
			names = append(names, s.Name.Name)
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if d.Doc == nil && s.Doc == nil && s.Comment == nil && name.IsExported() {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

// exportedReceiver tells whether a function is no method, or one of an exported type.
func exportedReceiver(f *ast.FuncDecl) bool {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return true
	}
	kind := f.Recv.List[0].Type
	for {
		switch k := kind.(type) {
		case *ast.StarExpr:
			kind = k.X
		case *ast.IndexExpr:
			kind = k.X
		case *ast.Ident:
			return k.IsExported()
		default:
			return true
		}
	}
}

// eachFile calls visit with every Go file of the module, by its path from the module's root.
func eachFile(t *testing.T, visit func(path string, files *token.FileSet, file *ast.File)) {
	t.Helper()
	root := filepath.Join("..", "..")
	seen := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata") {
			return filepath.SkipDir
		}
		if entry.IsDir() || filepath.Ext(name) != ".go" {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		seen++
		visit(filepath.ToSlash(relative), files, file)
		return nil
	})
	if err != nil {
		t.Fatalf("read the module: %v", err)
	}
	if seen < 10 {
		t.Fatalf("found only %d Go files below %s", seen, root)
	}
}
