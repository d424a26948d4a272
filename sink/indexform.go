package sink

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"recrawld/config"
)

// IndexForm is how a kind of search server is spoken to.
type IndexForm struct {
	Name string

	// show puts the token into a request's header.
	show func(header http.Header, token string)

	// send has the server write some documents and drop others. It tells of those that are refused by themselves; an error is of all.
	send func(ctx context.Context, c *indexCall, documents []Document) error
}

// IndexFormOf is the form of one of config.IndexForms.
func IndexFormOf(name string) IndexForm {
	switch name {
	case config.IndexMeilisearch:
		return IndexForm{name, func(h http.Header, token string) { h.Set("Authorization", "Bearer "+token) }, meilisearch}
	case config.IndexTypesense:
		return IndexForm{name, func(h http.Header, token string) { h.Set("X-TYPESENSE-API-KEY", token) }, typesense}
	case config.IndexSolr:
		return IndexForm{name, func(h http.Header, token string) { basic(h, token, "Bearer") }, solr}
	}
	return IndexForm{config.IndexElasticsearch, func(h http.Header, token string) { basic(h, token, "ApiKey") }, elasticsearch}
}

const (
	kindJSON  = "application/json"
	kindLines = "application/x-ndjson"
)

// halves are the documents to be written, and the IDs of those to be dropped.
func halves(documents []Document) (write []Document, drop []string) {
	for _, d := range documents {
		if d.Fields == nil {
			drop = append(drop, d.ID)
		} else {
			write = append(write, d)
		}
	}
	return write, drop
}

// list is documents as a JSON array.
func list(documents []Document) []byte {
	fields := make([][]byte, len(documents))
	for i := range documents {
		fields[i] = documents[i].Fields
	}
	return append(append([]byte{'['}, bytes.Join(fields, []byte{','})...), ']')
}

// elasticsearch speaks to Elasticsearch and OpenSearch by their bulk API. An index that is not there is made by the server.
func elasticsearch(ctx context.Context, c *indexCall, documents []Document) error {
	return c.apart(documents, errLong, func(some []Document) error { return bulk(ctx, c, some) })
}

func bulk(ctx context.Context, c *indexCall, documents []Document) error {
	var body bytes.Buffer
	index, _ := json.Marshal(c.index.options.Index) // a string always can be
	for _, d := range documents {
		if d.Fields == nil {
			fmt.Fprintf(&body, `{"delete":{"_index":%s,"_id":"%s"}}`+"\n", index, d.ID)
			continue
		}
		fmt.Fprintf(&body, `{"index":{"_index":%s,"_id":"%s"}}`+"\n", index, d.ID)
		body.Write(d.Fields)
		body.WriteByte('\n')
	}
	said, err := c.ask(ctx, http.MethodPost, "/_bulk", kindLines, body.Bytes())
	if err != nil {
		return err
	}
	var answer struct {
		Items []map[string]struct {
			Status int             `json:"status"`
			Error  json.RawMessage `json:"error"`
		} `json:"items"`
	}
	if err := json.Unmarshal(said, &answer); err != nil || len(answer.Items) != len(documents) {
		return fmt.Errorf("the server's answer is none of a bulk request (%d of %d documents told of)", len(answer.Items), len(documents))
	}
	for i, item := range answer.Items {
		for action, done := range item {
			switch {
			case done.Status/100 == 2, action == "delete" && done.Status == http.StatusNotFound:
			case done.Status == http.StatusBadRequest, done.Status == http.StatusRequestEntityTooLarge:
				c.refuse(documents[i].ID, saidOf(done.Status, string(done.Error)))
			default:
				return saidOf(done.Status, string(done.Error))
			}
		}
	}
	return nil
}

// saidOf is the error of what a server says of one document.
func saidOf(status int, words string) error {
	return fmt.Errorf("the server answers %s: %s", statusWords(status), oneLine(words))
}

// meilisearch speaks to Meilisearch, which answers before it has done what it is asked for: whether that succeeded its tasks say. What
// has not ended in time is looked at first the next time, so that no more is put behind it meanwhile. An index that is not there is made
// by the server.
func meilisearch(ctx context.Context, c *indexCall, documents []Document) error {
	for _, uid := range c.pending {
		if err := c.await(ctx, uid); c.waitsFor(uid) {
			return err
		} // however it ended, what it was given comes again
	}
	write, drop := halves(documents)
	if len(drop) > 0 {
		ids, _ := json.Marshal(drop)
		if err := c.enqueue(ctx, "/indexes/%s/documents/delete-batch", ids); err != nil && !errors.Is(err, errNoIndexYet) {
			return err
		}
	}
	return c.apart(write, errRefused, func(some []Document) error {
		return c.enqueue(ctx, "/indexes/%s/documents?primaryKey=id", list(some))
	})
}

// enqueue gives Meilisearch a task, and returns when that has ended.
func (c *indexCall) enqueue(ctx context.Context, path string, body []byte) error {
	said, err := c.ask(ctx, http.MethodPost, c.path(path), kindJSON, body)
	if errors.Is(err, errRefused) && !errors.Is(err, errLong) {
		return errors.New(err.Error()) // of the request and no document, of which only tasks tell
	}
	if err != nil {
		return err
	}
	var task struct {
		UID *int64 `json:"taskUid"`
	}
	if err := json.Unmarshal(said, &task); err != nil || task.UID == nil {
		return errors.New("the server's answer names no task: is it Meilisearch?")
	}
	c.pending = append(c.pending, *task.UID)
	return c.await(ctx, *task.UID)
}

// waitsFor tells whether a task may not have ended.
func (c *indexCall) waitsFor(uid int64) bool { return slices.Contains(c.pending, uid) }

// await returns when a task of Meilisearch has ended, which is then not pending any more: nil where it succeeded.
func (c *indexCall) await(ctx context.Context, uid int64) error {
	machine := c.index.options.Clock
	inTime, cancel := context.WithTimeout(ctx, indexTime)
	defer cancel()
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		said, err := c.ask(inTime, http.MethodGet, "/tasks/"+strconv.FormatInt(uid, 10), "", nil)
		if err != nil && !errors.Is(err, errNone) {
			return err
		}
		var task meiliTask
		if err == nil {
			if err := json.Unmarshal(said, &task); err != nil {
				return fmt.Errorf("the server's answer is no task: %w", err)
			}
		}
		if ended, how := task.ended(uid); ended || err != nil {
			c.pending = slices.DeleteFunc(slices.Clone(c.pending), func(other int64) bool { return other == uid })
			if err != nil {
				how = fmt.Errorf("the server knows no task %d, which it was just given: may the API key look at tasks? (%w)", uid, err)
			}
			return how
		}
		if err := machine.SleepUntil(inTime, machine.Now().Add(machine.Real(wait))); err != nil {
			return fmt.Errorf("the server has not ended task %d within %v, it is %s", uid, indexTime, oneLine(task.Status))
		}
	}
}

// meiliTask is what Meilisearch says of a task.
type meiliTask struct {
	Status string `json:"status"`
	Error  struct {
		Message string `json:"message"`
		Code    string `json:"code"`
		Type    string `json:"type"`
	} `json:"error"`
}

// errNoIndexYet says of a task that there is no index: nothing to be dropped from, and none that the API key lets be made.
var errNoIndexYet = errors.New("there is no index, and the API key does not let one be made")

// ended tells whether it has ended, and how.
func (t *meiliTask) ended(uid int64) (bool, error) {
	switch {
	case t.Status == "succeeded":
		return true, nil
	case t.Status == "failed" && t.Error.Code == "index_not_found":
		return true, fmt.Errorf("%w: %s", errNoIndexYet, oneLine(t.Error.Message))
	case t.Status == "failed" && t.Error.Type == "invalid_request" && !strings.HasPrefix(t.Error.Code, "index_"): // which is no document's fault
		return true, fmt.Errorf("%w: %s", errRefused, oneLine(t.Error.Message))
	case t.Status == "failed", t.Status == "canceled":
		return true, fmt.Errorf("the server's task %d is %s: %s", uid, t.Status, oneLine(t.Error.Message))
	}
	return false, nil
}

// typesenseFields are those that a collection needs to be searched in; whatever else a document has is taken as it comes.
const typesenseFields = `[{"name":"title","type":"string"},{"name":"text","type":"string"},{"name":"url","type":"string"},
	{"name":"site","type":"string","facet":true},{"name":"language","type":"string","facet":true,"optional":true},{"name":".*","type":"auto"}]`

// typesenseDrops is how many documents are dropped by one request: their IDs are in its address, of which many a proxy takes 4 KiB or 8.
const typesenseDrops = 100

// typesense speaks to Typesense. A collection that is not there is made.
func typesense(ctx context.Context, c *indexCall, documents []Document) error {
	write, drop := halves(documents)
	for some := range slices.Chunk(drop, typesenseDrops) {
		filter := url.Values{"filter_by": {"id:[" + strings.Join(some, ",") + "]"}}
		_, err := c.ask(ctx, http.MethodDelete, c.path("/collections/%s/documents")+"?"+filter.Encode(), "", nil)
		if err != nil && !errors.Is(err, errNone) {
			return err
		}
	}
	return c.apart(write, errLong, func(some []Document) error { return typesenseImport(ctx, c, some) })
}

// typesenseImport writes documents.
func typesenseImport(ctx context.Context, c *indexCall, documents []Document) error {
	var lines bytes.Buffer
	for _, d := range documents {
		lines.Write(d.Fields)
		lines.WriteByte('\n')
	}
	path := c.path("/collections/%s/documents/import?action=upsert")
	said, err := c.ask(ctx, http.MethodPost, path, "text/plain", lines.Bytes())
	if errors.Is(err, errNone) {
		name, _ := json.Marshal(c.index.options.Index)
		if _, err = c.ask(ctx, http.MethodPost, "/collections", kindJSON, fmt.Appendf(nil, `{"name":%s,"fields":%s}`, name, typesenseFields)); err == nil {
			said, err = c.ask(ctx, http.MethodPost, path, "text/plain", lines.Bytes())
		}
	}
	if err != nil {
		return err
	}
	answers := bytes.Split(bytes.TrimSpace(said), []byte{'\n'})
	if len(answers) != len(documents) {
		return fmt.Errorf("the server's answer tells of %d documents, not of %d", len(answers), len(documents))
	}
	for i, line := range answers {
		var done struct {
			Success bool   `json:"success"`
			Error   string `json:"error"`
			Code    int    `json:"code"`
		}
		if err := json.Unmarshal(line, &done); err != nil {
			return fmt.Errorf("the server's answer is none of an import: %w", err)
		}
		switch {
		case done.Success:
		case done.Code >= 500:
			return saidOf(done.Code, done.Error)
		default:
			c.refuse(documents[i].ID, saidOf(done.Code, done.Error))
		}
	}
	return nil
}

// solrCommit is within how many milliseconds what Solr was given is found.
const solrCommit = 10_000

// solr speaks to Solr. Its core, or collection, must be there.
func solr(ctx context.Context, c *indexCall, documents []Document) error {
	update := func(body []byte) error {
		_, err := c.ask(ctx, http.MethodPost, c.path("/%s/update")+"?commitWithin="+strconv.Itoa(solrCommit), kindJSON, body)
		return err
	}
	write, drop := halves(documents)
	if len(drop) > 0 {
		body, _ := json.Marshal(map[string][]string{"delete": drop})
		if err := update(body); err != nil {
			return err
		}
	}
	return c.apart(write, errRefused, func(some []Document) error { return update(list(some)) })
}
