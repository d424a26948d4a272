package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIndexes(t *testing.T) {
	t.Parallel()
	path := keysFile(t, 0o600, "u:p")
	text := fmt.Sprintf("indexes:\n  docs: {form: solr, url: \"http://10.0.0.5:8983/solr\", index: docs, token: \"${file:%s}\", sites: [docs], private: on}\n", path)
	c, _, err := Parse("recrawld.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []Index{{Name: "docs", Form: IndexSolr, URL: "http://10.0.0.5:8983/solr", Index: "docs", Token: "${file:" + path + "}", Sites: []string{"docs"}, Private: true}}
	if diff := cmp.Diff(want, c.Indexes); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	again, _, err := Parse("again.yaml", []byte("indexes: "+indexesValue(&c.Indexes).String()))
	if err != nil || !cmp.Equal(c.Indexes, again.Indexes) {
		t.Errorf("as it is shown it is read otherwise: %v, %+v", err, again.Indexes)
	}
	if token, err := c.Indexes[0].Secret(); err != nil || token != "u:p" || c.Indexes[0].Where() != "docs of solr at 10.0.0.5:8983" {
		t.Errorf("Secret = %q, %v, Where = %q", token, err, c.Indexes[0].Where())
	}
	shown := commented(t, "indexes", "/etc/recrawld/search.token", path).Indexes
	if len(shown) != 1 || shown[0].Form != IndexMeilisearch || shown[0].Token == "" {
		t.Errorf("search servers of the example = %+v", shown)
	}
}

func TestIndexesThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ keys, want string }{
		{"url: https://x.example, index: docs", "has no form, write one of meilisearch, elasticsearch, typesense, solr"},
		{"form: lucene, url: https://x.example, index: docs", "lucene"},
		{"form: solr, index: docs", "has no url"},
		{"form: solr, url: https://x.example", "has no index"},
		{"form: solr, url: https://x.example, index: ../docs", "is no name of an index"},
		{"form: solr, url: https://x.example, index: _docs", "is no name of an index"},
		{"form: solr, url: http://x.example, index: docs", "private: on allows it"},
		{"form: solr, url: \"https://u:hunter2@x.example\", index: docs", "has a user name in its URL"},
		{"form: solr, url: \"https://x.example/?a=b\", index: docs", `write it without "?" and "#"`},
		{"form: solr, url: https://x.example, index: docs, token: hunter2", "${file:"},
	} {
		_, _, err := Parse("recrawld.yaml", []byte("indexes:\n  docs: {"+test.keys+"}\n"))
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q", test.keys, err, test.want)
		}
	}
}
