package recrawl

import (
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"recrawld/config"
	"recrawld/internal/hostile"
	"recrawld/models"
)

func TestFault_019_SlowBody(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{
		"/loris": hostile.SlowBody(5 * time.Millisecond), "/stalled": hostile.StalledBody(), "/": hostile.Silent(),
	})
	r := newRig(t, func(c *Config, _ *config.Settings) { c.Limits.RateWindow = 100 * time.Millisecond })
	wantFailed(t, r.fetch(o.URL("/loris")), models.BodySlow)
	wantFailed(t, r.fetch(o.URL("/stalled")), models.BodySlow)
}

func TestFault_019_PageTime(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.SlowBody(5 * time.Millisecond), "/silent": hostile.Silent()})
	r := newRig(t, func(_ *Config, s *config.Settings) { s.PageTime = time.Second })
	for path, class := range map[string]models.ErrorClass{"/": models.BodySlow, "/silent": models.HeaderTimeout} {
		out := r.fetch(o.URL(path))
		wantFailedAnyhow(t, out, class)
		if !strings.Contains(out.Detail, errPageTime.Error()) {
			t.Errorf("detail = %q, want that %v", out.Detail, errPageTime)
		}
	}
}

func TestFault_020_SlowHeaders(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{
		"/silent": hostile.Silent(), "/slow": hostile.SlowHeaders(5 * time.Millisecond), "/deaf": hostile.Deaf(),
	})
	r := newRig(t, func(c *Config, _ *config.Settings) { c.Limits.Header = 100 * time.Millisecond })
	wantFailed(t, r.fetch(o.URL("/silent")), models.HeaderTimeout)
	wantFailed(t, r.fetch(o.URL("/slow")), models.HeaderTimeout)
	wantFailed(t, newRig(t, nil).fetch(o.URL("/deaf")), models.ConnReset)
}

func TestFault_021_EndlessBody(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.EndlessBody()})
	r := newRig(t, func(_ *Config, s *config.Settings) { s.BodyBytes = 200 << 10 })
	out := r.fetch(o.URL("/"))
	wantFailed(t, out, models.BodyTooLarge)
	if out.WireBytes > r.settings.WireBytes {
		t.Errorf("read %d bytes of an endless body, cap %d", out.WireBytes, r.settings.WireBytes)
	}
}

// TestFault_021_Caps holds the caps to the byte.
func TestFault_021_Caps(t *testing.T) {
	t.Parallel()
	const most = 10_000
	for _, test := range []struct {
		name        string
		bytes       int
		wire, whole int64
		class       models.ErrorClass
	}{
		{"one less than the wire cap", most - 1, most, 1 << 20, models.ClassNone},
		{"the wire cap", most, most, 1 << 20, models.ClassNone},
		{"one more than the wire cap", most + 1, most, 1 << 20, models.BodyTooLarge},
		{"one less than the body cap", most - 1, 1 << 20, most, models.ClassNone},
		{"the body cap", most, 1 << 20, most, models.ClassNone},
		{"one more than the body cap", most + 1, 1 << 20, most, models.BodyTooLarge},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			body := strings.Repeat("x", test.bytes)
			o := listen(t, map[string]hostile.Answer{"/": hostile.Whole(200, nil, body)})
			r := newRig(t, func(_ *Config, s *config.Settings) { s.WireBytes, s.BodyBytes = test.wire, test.whole })
			out := r.fetch(o.URL("/"))
			if test.class == models.ClassNone {
				wantBody(t, out, body)
				return
			}
			wantFailed(t, out, test.class)
		})
	}
}

// TestFault_021_LengthBeyondTheCaps: what says beforehand that it is larger than is read is not read at all: of a directory with disk images
// each visit took 32 MiB, for nothing.
func TestFault_021_LengthBeyondTheCaps(t *testing.T) {
	t.Parallel()
	long := func(field string) hostile.Answer {
		return hostile.Raw("HTTP/1.1 200 OK\r\nContent-Length: 300000000\r\n" + field + "\r\n" + strings.Repeat("x", 1000))
	}
	o := listen(t, map[string]hostile.Answer{"/": long(""), "/packed": long("Content-Encoding: gzip\r\n")})
	for _, test := range []struct {
		path        string
		wire, whole int64
		says        string
	}{
		{"/", 1 << 20, 1 << 30, "300000000 bytes are announced, more than the 1048576 of wire_bytes"},
		{"/", 1 << 30, 1 << 20, "300000000 bytes are announced, more than the 1048576 of body_bytes"},
		{"/packed", 1 << 20, 1 << 30, "300000000 bytes are announced, more than the 1048576 of wire_bytes"},
	} {
		r := newRig(t, func(_ *Config, s *config.Settings) { s.WireBytes, s.BodyBytes = test.wire, test.whole })
		out := r.fetch(o.URL(test.path))
		wantFailed(t, out, models.BodyTooLarge)
		if out.WireBytes != 0 || !strings.Contains(out.Detail, test.says) {
			t.Errorf("%d bytes of %s were read: %s; want none: %s", out.WireBytes, test.path, out.Detail, test.says)
		}
	}
}

func TestFault_022_Headers(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{
		"/endless": hostile.EndlessHeaders(), "/many": hostile.ManyHeaders(100_000), "/some": hostile.ManyHeaders(100),
	})
	r := newRig(t, nil)
	wantFailed(t, r.fetch(o.URL("/endless")), models.HeaderTooLarge)
	wantFailed(t, r.fetch(o.URL("/many")), models.HeaderTooLarge)
	wantBody(t, r.fetch(o.URL("/some")), "ok")
}

func TestFault_023_LengthTooLarge(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.Raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<p>not all")})
	wantFailed(t, newRig(t, nil).fetch(o.URL("/")), models.BodyShort)
}

func TestFault_024_LengthTooSmall(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{
		"/": hostile.Whole(200, map[string]string{"Content-Length": "4"}, ""),
		"/more": func(c *hostile.Conn) {
			c.Send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n<p>atHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged")
		},
	})
	r := newRig(t, nil)
	wantBody(t, r.fetch(o.URL("/more")), "<p>a")
	if out := r.fetch(o.URL("/more")); string(out.Body) == "forged" {
		t.Error("what came after one body was taken for the answer to the next request")
	}
}

func TestFault_025_LengthsThatDiffer(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{
		"/": hostile.Raw("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 6\r\n\r\n<p>two"),
	})
	wantFailed(t, newRig(t, nil).fetch(o.URL("/")), models.HTTPProtocol)
}

func TestFault_026_Chunks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, body string
		class      models.ErrorClass
	}{
		{"whole", "5\r\nhello\r\n0\r\n\r\n", models.ClassNone},
		{"trailer", "5\r\nhello\r\n0\r\nX-After: 1\r\n\r\n", models.ClassNone},
		{"cut in a chunk", "5\r\nhel", models.BodyShort},
		{"cut between chunks", "5\r\nhello\r\n", models.BodyShort},
		{"bad size", "zz\r\nhello\r\n0\r\n\r\n", models.HTTPProtocol},
		{"size overflows", "fffffffffffffffff\r\nhello\r\n0\r\n\r\n", models.HTTPProtocol},
		{"no line end after a chunk", "5\r\nhelloXX0\r\n\r\n", models.HTTPProtocol},
		{"huge extension", "5;" + strings.Repeat("e", 1<<20) + "\r\nhello\r\n0\r\n\r\n", models.HTTPProtocol},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := listen(t, map[string]hostile.Answer{"/": hostile.Chunked(test.body)})
			out := newRig(t, nil).fetch(o.URL("/"))
			if test.class == models.ClassNone {
				wantBody(t, out, "hello")
				return
			}
			wantFailed(t, out, test.class)
		})
	}
}

func TestFault_027_NotHTTP(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer hostile.Answer
		class  models.ErrorClass
	}{
		"HTTP/0.9":           {hostile.Raw("<p>no headers at all"), models.HTTPProtocol},
		"bad status line":    {hostile.Raw("HTTP/1.1 abc OK\r\n\r\n"), models.HTTPProtocol},
		"another protocol":   {hostile.Raw("SSH-2.0-OpenSSH_9.2\r\n"), models.HTTPProtocol},
		"interim flood":      {hostile.Interim(103, 10_000), models.HeaderTooLarge},
		"101 unasked":        {hostile.Raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"), models.UnexpectedStatus},
		"bad field":          {hostile.Raw("HTTP/1.1 200 OK\r\nno colon here\r\n\r\n"), models.HTTPProtocol},
		"cut in the headers": {hostile.Raw("HTTP/1.1 200 OK\r\nContent-Ty"), models.HTTPProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := listen(t, map[string]hostile.Answer{"/": test.answer})
			wantFailed(t, newRig(t, nil).fetch(o.URL("/")), test.class)
		})
	}
}

func TestInterimAnswersAreSkipped(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{"/": hostile.Interim(103, 3)})
	wantBody(t, newRig(t, nil).fetch(o.URL("/")), "<p>at last")
}

// TestFault_028_GzipBombs runs alone, because it counts what is allocated.
func TestFault_028_GzipBombs(t *testing.T) {
	const size = 64 << 20
	o := listen(t, map[string]hostile.Answer{"/1": hostile.GzipBomb(size, 1), "/2": hostile.GzipBomb(size, 2)})
	r := newRig(t, func(_ *Config, s *config.Settings) { s.BodyBytes = 1 << 30 })
	for _, path := range []string{"/1", "/2"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		wantFailed(t, r.fetch(o.URL(path)), models.BodyTooLarge)
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > size/4 {
			t.Errorf("%s: a bomb of %d bytes made us allocate %d", path, size, grown)
		}
	}
}

func TestFault_029_Gzip(t *testing.T) {
	t.Parallel()
	const page = "<p>packed, and long enough to be cut"
	packed := hostile.Gzipped(page)
	wrongSum := packed[:len(packed)-8] + "\x00\x00\x00\x00" + packed[len(packed)-4:]
	coded := map[string]string{"Content-Encoding": "gzip", "Content-Type": "text/html"}
	for _, test := range []struct {
		name, body string
		class      models.ErrorClass
	}{
		{"whole", packed, models.ClassNone},
		{"two members", hostile.Gzipped(page[:10]) + hostile.Gzipped(page[10:]), models.ClassNone},
		{"cut", packed[:len(packed)-12], models.BodyShort},
		{"cut in the checksum", packed[:len(packed)-2], models.BodyShort},
		{"cut in the header", packed[:5], models.BodyShort},
		{"wrong checksum", wrongSum, models.BodyShort},
		{"trailing garbage", packed + "garbage garbage", models.BadEncoding},
		{"a label that lies", page, models.BadEncoding},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := listen(t, map[string]hostile.Answer{"/": hostile.Whole(200, coded, test.body)})
			out := newRig(t, nil).fetch(o.URL("/"))
			if test.class != models.ClassNone {
				wantFailed(t, out, test.class)
				return
			}
			wantBody(t, out, page)
			if out.WireBytes != int64(len(test.body)) {
				t.Errorf("WireBytes = %d, want %d", out.WireBytes, len(test.body))
			}
		})
	}
}

func TestFault_030_UnknownEncoding(t *testing.T) {
	t.Parallel()
	for _, coding := range []string{"br", "x-mystery", "gzip, zstd", "gzip, gzip, gzip, gzip"} {
		fields := map[string]string{"Content-Encoding": coding, "Content-Type": "text/html"}
		o := listen(t, map[string]hostile.Answer{"/": hostile.Whole(200, fields, "<a href=/x>")})
		wantFailed(t, newRig(t, nil).fetch(o.URL("/")), models.BadEncoding)
	}
	o := listen(t, map[string]hostile.Answer{"/": hostile.Whole(200, map[string]string{"Content-Encoding": "identity"}, "as is")})
	wantBody(t, newRig(t, nil).fetch(o.URL("/")), "as is")
}

func TestFault_031_Statuses(t *testing.T) {
	t.Parallel()
	for status, class := range map[int]models.ErrorClass{
		201: models.UnexpectedStatus, 204: models.UnexpectedStatus, 205: models.UnexpectedStatus,
		206: models.UnexpectedStatus, 300: models.UnexpectedStatus, 305: models.UnexpectedStatus,
		400: models.UnexpectedStatus, 416: models.UnexpectedStatus, 418: models.UnexpectedStatus,
		401: models.Refused, 403: models.Refused, 407: models.Refused, 451: models.Refused,
		429: models.TooManyRequests, 500: models.ServerError, 503: models.ServerError, 599: models.ServerError,
		999: models.UnexpectedStatus,
	} {
		body := "<p>an error page"
		if status == 204 || status == 205 {
			body = ""
		}
		o := listen(t, map[string]hostile.Answer{"/": hostile.Whole(status, nil, body)})
		out := newRig(t, nil).fetch(o.URL("/"))
		wantFailed(t, out, class)
		if out.Status != status {
			t.Errorf("Status = %d, want %d", out.Status, status)
		}
	}
}

func TestFault_033_NULs(t *testing.T) {
	t.Parallel()
	body := "<p>a\x00b\xff\xfe<title>t\x00\x01\xed\xa0\x80</title>"
	o := listen(t, map[string]hostile.Answer{
		"/":  hostile.Whole(200, map[string]string{"Content-Type": "text/html", "ETag": "\"\xe9\"", "X-Odd": "\xff"}, body),
		"/h": hostile.Raw("HTTP/1.1 200 OK\r\nETag: \"a\x00b\"\r\nContent-Length: 1\r\n\r\nx"),
	})
	r := newRig(t, nil)
	out := r.fetch(o.URL("/"))
	wantBody(t, out, body)
	if out.ETag != "" || strings.ContainsAny(out.Title, "\x00\x01") || strings.ToValidUTF8(out.Title, "") != out.Title {
		t.Errorf("ETag %q, title %q: not fit for a database", out.ETag, out.Title)
	}
	if out := r.fetch(o.URL("/h")); strings.Contains(out.ETag+out.Detail, "\x00") {
		t.Errorf("a NUL passed: %q %q", out.ETag, out.Detail)
	}
}

func TestFault_034_Empty200(t *testing.T) {
	t.Parallel()
	o := listen(t, map[string]hostile.Answer{
		"/":   hostile.Then(hostile.Whole(200, nil, "content"), hostile.Whole(200, nil, "")),
		"/gz": hostile.Whole(200, map[string]string{"Content-Encoding": "gzip"}, ""), "/new": hostile.Whole(200, nil, ""),
	})
	r := newRig(t, nil)
	page := pageOf(t, o.URL("/"))
	page = after(page, r.visit(page))
	wantFailed(t, r.visit(page), models.EmptyBody)
	wantBody(t, r.fetch(o.URL("/new")), "")
	wantBody(t, r.fetch(o.URL("/gz")), "")
}

func TestFault_035_LongURL(t *testing.T) {
	t.Parallel()
	o := listen(t, nil)
	out := newRig(t, nil).turn(t.Context(), models.Page{URL: o.URL("/" + strings.Repeat("a", 68<<10))})
	wantKind(t, out, models.Excluded)
	if len(o.Requests()) != 0 || len(out.Detail) > 300 || out.Detail == "" {
		t.Errorf("%d requests, detail of %d bytes", len(o.Requests()), len(out.Detail))
	}
	long := "/" + strings.Repeat("a", 15<<10)
	o.Set(long, hostile.Whole(http.StatusOK, nil, "long"))
	wantBody(t, newRig(t, nil).fetch(o.URL(long)), "long")
}

// TestHeadsAreReceived: an answer has the bytes of its head beside those of its body, whatever it says.
func TestHeadsAreReceived(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		head, body string
	}{
		"whole":        {"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 14\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n\r\n", "<p>Some words."},
		"not modified": {"HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\nCache-Control: max-age=60\r\n\r\n", ""},
		"missing":      {"HTTP/1.1 404 Not Found\r\nServer: s\r\nContent-Length: 4\r\n\r\n", "None"},
	} {
		o := listen(t, map[string]hostile.Answer{"/": hostile.Raw(test.head + test.body)})
		out := newRig(t, nil).fetch(o.URL("/"))
		if out.HeadBytes != int64(len(test.head)) || out.WireBytes != int64(len(test.body)) || out.Received() != int64(len(test.head+test.body)) {
			t.Errorf("%s: %d bytes of head and %d of body; want %d and %d", name, out.HeadBytes, out.WireBytes, len(test.head), len(test.body))
		}
	}
}
