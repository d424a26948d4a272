package config

import (
	"slices"
	"strings"
	"time"
)

// field is one key of the file. A dot in it stands for a section: "agent.name" is agent: {name: …}.
type field[T any] struct {
	key   string
	of    func(*T) value
	short string // the field that this is a shorter way to write; such a field is read and not shown
}

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
)

// configFields are the keys at the top of the file in the order in which they are shown; defaults and sites follow.
// Bounds and units stand here and nowhere else in code.
var configFields = []field[Config]{
	{key: "agent.name", of: func(c *Config) value { return word(&c.Agent.Name, checkToken) }},
	{key: "agent.contact", of: func(c *Config) value { return word(&c.Agent.Contact, checkContact) }},
	{key: "cycle", of: func(c *Config) value { return word(&c.Cycle, checkCycle) }},
	{key: "store", of: func(c *Config) value { return store{&c.Store} }},
	{key: "data", of: func(c *Config) value { return word(&c.Data, present) }},
	{key: "listen", of: func(c *Config) value { return word(&c.Listen, checkListen) }},
	{key: "network.allow", of: func(c *Config) value { return prefixes(&c.Network.Allow) }},
	{key: "network.ports", of: func(c *Config) value { return ports(&c.Network.Ports) }},
	{key: "network.hosts_per_address", of: func(c *Config) value { return orOff(count(&c.Network.HostsPerAddress, 1, 4096)) }},
	{key: "network.connections", of: func(c *Config) value { return orOff(count(&c.Network.Connections, 16, 65536)) }},
	{key: "network.bandwidth", of: func(c *Config) value { return bytesASecond(&c.Network.Bandwidth) }},
	{key: "worker.name", of: func(c *Config) value { return word(&c.Worker.Name, checkWorker) }},
	{key: "worker.fetchers", of: func(c *Config) value { return count(&c.Worker.Fetchers, 1, 4096) }},
	{key: "worker.slow_share", of: func(c *Config) value { return percent(&c.Worker.SlowShare, 0.01, 1) }},
	{key: "worker.lease", of: func(c *Config) value { return duration(&c.Worker.Lease, 5*time.Second, time.Hour, "m") }},
	{key: "worker.grace", of: func(c *Config) value { return duration(&c.Worker.Grace, 0, 5*time.Minute, "s") }},
	{key: "worker.memory", of: func(c *Config) value { return size(&c.Worker.Memory, 16*mib, 1<<50) }},
	{key: "worker.min_free", of: func(c *Config) value { return size(&c.Worker.MinFree, 0, 1<<60) }},
	{key: "history.keep", of: func(c *Config) value { return duration(&c.History.Keep, day, 36500*day, "d") }},
	{key: "backup.every", of: func(c *Config) value { return orOff(duration(&c.Backup.Every, time.Minute, 366*day, "h")) }},
	{key: "backup.keep", of: func(c *Config) value { return count(&c.Backup.Keep, 1, 1000) }},
	{key: "backup.dir", of: func(c *Config) value { return word(&c.Backup.Dir, present) }},
	{key: "mirror.dir", of: func(c *Config) value { return word(&c.Mirror.Dir, directory) }},
	{key: "mirror.trash", of: func(c *Config) value { return orOff(duration(&c.Mirror.Trash, day, 36500*day, "d")) }},
	{key: "mirror", short: "mirror.dir", of: func(c *Config) value { return word(&c.Mirror.Dir, directory) }},
	{key: "webhooks", of: func(c *Config) value { return webhooksValue(&c.Webhooks) }},
	{key: "indexes", of: func(c *Config) value { return indexesValue(&c.Indexes) }},
	{key: "mail", of: func(c *Config) value { return mailsValue(&c.Mails) }},
	{key: "chat", of: func(c *Config) value { return chatsValue(&c.Chats) }},
	{key: "websub.callback", of: func(c *Config) value { return word(&c.WebSub.Callback, checkCallback) }},
	{key: "websub.lease", of: func(c *Config) value { return duration(&c.WebSub.Lease, time.Hour, 366*day, "d") }},
	{key: "budget.requests", of: func(c *Config) value { return requests(&c.Budget.Requests) }},
	{key: "budget.bytes", of: func(c *Config) value { return bytesADay(&c.Budget.Bytes) }},
	{key: "budget", short: "budget.requests", of: func(c *Config) value { return budgetShort(&c.Budget) }},
}

// settingFields are the keys under defaults and beside the url of a site.
var settingFields = []field[Settings]{
	{key: "policy", of: func(s *Settings) value { return policyValue{word(&s.Policy, oneOf(Policies()...)), &s.PolicyNamed} }},
	{key: "budget.requests", of: func(s *Settings) value { return requests(&s.Budget.Requests) }},
	{key: "budget.bytes", of: func(s *Settings) value { return bytesADay(&s.Budget.Bytes) }},
	{key: "budget", short: "budget.requests", of: func(s *Settings) value { return budgetShort(&s.Budget) }},
	{key: "slo", of: func(s *Settings) value { return goal(&s.SLO) }},
	{key: "importance.weight", of: func(s *Settings) value { return weight(&s.Importance.Weight) }},
	{key: "importance.links", of: func(s *Settings) value { return toggle(&s.Importance.Links) }},
	{key: "importance.rules", of: func(s *Settings) value { return rulesValue{&s.Importance.Rules} }},
	{key: "importance", short: "importance.weight", of: func(s *Settings) value { return weight(&s.Importance.Weight) }},
	{key: "fr", of: func(s *Settings) value { return cycles(&s.FR, 1, 100_000) }},
	{key: "fr_max", of: func(s *Settings) value { return cycles(&s.FRMax, 1, 100_000) }},
	{key: "records", of: func(s *Settings) value { return count(&s.Records, 2, 64) }},
	{key: "vary", of: func(s *Settings) value { return percent(&s.Vary, 0, 0.5) }},
	{key: "windows", of: func(s *Settings) value { return windows(&s.Windows) }},
	{key: "hint_max", of: func(s *Settings) value { return orOff(duration(&s.HintMax, time.Second, 366*day, "d")) }},

	{key: "delay", of: func(s *Settings) value { return duration(&s.Delay, 0, time.Hour, "s") }},
	{key: "delay_max", of: func(s *Settings) value { return duration(&s.DelayMax, 0, day, "m") }},
	{key: "delay_factor", of: func(s *Settings) value { return orOff(number(&s.DelayFactor, 0.1, 100)) }},
	{key: "concurrency", of: func(s *Settings) value { return count(&s.Concurrency, 1, 64) }},
	{key: "retry_max", of: func(s *Settings) value { return duration(&s.RetryMax, 0, 30*day, "h") }},

	{key: "headers", of: func(s *Settings) value { return headersValue{&s.Headers} }},
	{key: "page_time", of: func(s *Settings) value { return duration(&s.PageTime, time.Second, 10*time.Minute, "s") }},
	{key: "wire_bytes", of: func(s *Settings) value { return size(&s.WireBytes, kib, 16*gib) }},
	{key: "body_bytes", of: func(s *Settings) value { return size(&s.BodyBytes, kib, 16*gib) }},
	{key: "header_bytes", of: func(s *Settings) value { return size(&s.HeaderBytes, kib, 16*mib) }},

	{key: "scope", of: func(s *Settings) value { return words(&s.Scope, checkScope) }},
	{key: "level", of: func(s *Settings) value { return count(&s.Level, 0, 1000) }},
	{key: "filter", of: func(s *Settings) value { return filterValue{&s.Filter} }},
	{key: "requisites", of: func(s *Settings) value {
		return word(&s.Requisites, oneOf(RequisitesOff, RequisitesSite, RequisitesAll))
	}},
	{key: "requisites_filter", of: func(s *Settings) value { return filterValue{&s.RequisitesFilter} }},
	{key: "noindex", of: func(s *Settings) value { return word(&s.NoIndex, oneOf(NoIndexFew, NoIndexAll)) }},
	{key: "url_length", of: func(s *Settings) value { return count(&s.URLLength, 64, 65535) }},
	{key: "segments", of: func(s *Settings) value { return count(&s.Segments, 1, 1000) }},
	{key: "repeats", of: func(s *Settings) value { return count(&s.Repeats, 1, 1000) }},
	{key: "pages_per_host", of: func(s *Settings) value { return count(&s.PagesPerHost, 1, 1_000_000_000) }},
	{key: "links_per_page", of: func(s *Settings) value { return count(&s.LinksPerPage, 0, 1_000_000) }},
	{key: "children_kept", of: func(s *Settings) value { return count(&s.ChildrenKept, 0, 100_000) }},
	{key: "lists", of: func(s *Settings) value { return word(&s.Lists, oneOf(ListsPages, ListsChanges, ListsOff)) }},
	{key: "indexnow", of: func(s *Settings) value { return keyValue{&s.IndexNow} }},
	{key: "list_entries", of: func(s *Settings) value { return count(&s.ListEntries, 1, 50_000) }},

	{key: "significance", of: func(s *Settings) value { return number(&s.Significance, 0, 1) }},
	{key: "watch", of: func(s *Settings) value { return watchValue{&s.Watch, &s.WatchSome} }},
	{key: "ignore", of: func(s *Settings) value { return selectors(&s.Ignore) }},
	{key: "ignore_text", of: func(s *Settings) value { return words(&s.IgnoreText, checkPattern) }},
	{key: "duplicates", of: func(s *Settings) value { return toggle(&s.Duplicates) }},
	{key: "audit", of: func(s *Settings) value { return orOff(percent(&s.Audit, 0.0001, 1)) }},
	{key: "probe", of: func(s *Settings) value { return orOff(duration(&s.Probe, day, 366*day, "d")) }},

	{key: "parents.threshold", of: func(s *Settings) value { return orOff(percent(&s.Parents.Threshold, 0.05, 0.95)) }},
	{key: "parents.max_skips", of: func(s *Settings) value { return count(&s.Parents.MaxSkips, 1, 1000) }},
	{key: "parents", short: "parents.threshold", of: parentsOff},
	{key: "gone.visits", of: func(s *Settings) value { return count(&s.GoneVisits, 1, 1000) }},
	{key: "gone.over", of: func(s *Settings) value { return duration(&s.GoneOver, 0, 366*day, "h") }},
	{key: "gone.guard", of: func(s *Settings) value { return orOff(percent(&s.GoneGuard, 0.05, 1)) }},
}

// parentsOff is parents: off, short for parents: {threshold: off}.
func parentsOff(s *Settings) value {
	v := orOff(percent(&s.Parents.Threshold, 0.05, 0.95))
	v.parse = func(text string) (float64, error) { return 0, oneOf("off")(text) }
	return v
}

func find[T any](fields []field[T], key string) (field[T], bool) {
	i := slices.IndexFunc(fields, func(f field[T]) bool { return f.key == key })
	if i < 0 {
		return field[T]{}, false
	}
	return fields[i], true
}

func isSection[T any](fields []field[T], key string) bool {
	return slices.ContainsFunc(fields, func(f field[T]) bool { return strings.HasPrefix(f.key, key+".") })
}

// siblings are the keys that may stand in a section ("agent."), or at the top for "".
func siblings[T any](fields []field[T], section string) []string {
	var keys []string
	for _, f := range fields {
		if rest, ok := strings.CutPrefix(f.key, section); ok {
			key, _, _ := strings.Cut(rest, ".")
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
