package script

import (
	"slices"
	"strings"
	"testing"
)

func TestImports(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, want string }{
		"static":              {`import a from "./a.js"; import {b as c} from '../b.js'; import * as d from "/d.js"; import "https://h/e.js"; import f,{g} from"./f.js"`, "./a.js ../b.js /d.js https://h/e.js ./f.js"},
		"minified":            {`import{a as b}from"./a.js";import"./b.js";export*from"./c.js";export{d}from'./d.js';const e=1`, "./a.js ./b.js ./c.js ./d.js"},
		"dynamic":             {`const a=()=>import("./a.js"),b=await import ( /* @vite-ignore */ './b.js' );import('./c.json',{with:{type:"json"}})`, "./a.js ./b.js ./c.json"},
		"template as literal": {"import(`./a.js`);import(`./${b}.js`);new URL(`c.png`,import.meta.url)", "./a.js c.png"},
		"URLs":                {`new Worker(new URL("w.js", import.meta.url)); ""+new URL('/i.png',import.meta.url).href; new URL("no.js", document.baseURI); new URL("no")`, "w.js /i.png"},
		"directories":         {`new URL(".", import.meta.url); new URL("../", import.meta.url); new URL("..",import.meta.url); new URL("./a/b/..",import.meta.url); new URL("./a.b",import.meta.url)`, "./a.b"},
		"names":               {`import a from "react"; import("lodash"); require("./no.js"); import.meta.url; x.import("./no.js"); ({from:"./no.js"})`, ""},
		"parts":               {`import("./a/"+b+".js"); import(c); import("./d" , e)`, "./d"},
		"in strings":          {`a="import './no.js'"; b='import("./no.js")'; c="\"import './no.js'"; import "./a.js"`, "./a.js"},
		"in comments":         {"// import './no.js'\n/* import './no.js' */ import /* './no.js' */ './a.js' // \"", "./a.js"},
		"in templates":        {"a=`import './no.js' ${`import './no.js' ${import('./a.js')}`} import './no.js'`;import './b.js'", "./a.js ./b.js"},
		"braces in templates": {"a=`${{b:{}}} import './no.js' ${function(){return {}}()}`;import './b.js'", "./b.js"},
		"in expressions":      {`a=/import ".\/no.js"/;if(b)/["'/]/.test(c);return/"/;import "./a.js"`, "./a.js"},
		"in a class":          {`a=/[/"]/;import "./a.js"`, "./a.js"},
		"a condition's end":   {`while(b)/"/.test(c);import "./a.js"`, "./a.js"},
		"divided":             {`a=b/2;import "./a.js";c=(d)/e;f=g[0]/h;i++/j;import "./b.js"//`, "./a.js ./b.js"},
		"a string's line":     {"a='it\nimport './b.js'", "./b.js"},
		"escapes":             {`import "\/a.js"; import "./\u0062.js"`, "/a.js"},
		"no addresses":        {`import "./a b.js"; import "data:text/javascript,1"; import "node:fs"`, ""},
		"nothing to end":      {`import "./a.js`, ""},
		"a call in an import": {`import(a(import("./b.js")))`, "./b.js"},
	} {
		if got := strings.Join(slices.Collect(Imports([]byte(c.script))), " "); got != c.want {
			t.Errorf("%s: imports %q, want %q", name, got, c.want)
		}
	}
}

// FuzzImports holds that any text is read to its end, and that what is found stands in it.
func FuzzImports(f *testing.F) {
	f.Add("import a from './b.js';`${import('/c')}`")
	f.Add("import(/*")
	f.Add("new URL(\"a\",import.meta.url)/x")
	f.Fuzz(func(t *testing.T, text string) {
		for ref := range Imports([]byte(text)) {
			if !strings.Contains(strings.ReplaceAll(text, `\/`, "/"), ref) {
				t.Errorf("%q is not in %q", ref, text)
			}
		}
	})
}

// TestImportsInLinearTime holds against texts that would be read again and again.
func TestImportsInLinearTime(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"import(", "import/*", "import(`", "/", "/[", "`${", "new URL('", "from'"} {
		text := []byte("import " + strings.Repeat(part, 1<<20/len(part)))
		if got := slices.Collect(Imports(text)); len(got) > 0 {
			t.Errorf("%q: imports %.3q", part, got)
		}
	}
}
