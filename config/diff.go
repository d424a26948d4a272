package config

// Change is a value that differs between two configurations, written as in the file.
type Change struct {
	Site string `json:"site,omitempty"`
	Key  string `json:"key"` // "site" where the site itself is new or gone; Old or New is then its URL
	Old  string `json:"old"`
	New  string `json:"new"`
}

// String is "cycle: 6h → 12h", "site docs: fr: 4 → 8", "site docs: new, https://docs.example.org/" or "site docs: gone".
func (c Change) String() string {
	site := ""
	if c.Site != "" {
		site = "site " + c.Site + ": "
	}
	switch {
	case c.Key == "site" && c.Old == "":
		return site + "new, " + c.New
	case c.Key == "site":
		return site + "gone"
	}
	return site + c.Key + ": " + c.Old + " → " + c.New
}

// Diff lists what differs from old to new, in the order of Values. Of a site that is new or gone only that is said.
// Passwords are masked, so one that changed alone does not show.
func Diff(old, new *Config) []Change {
	changes := changed(valuesOf(configFields, old, nil, "", ""), valuesOf(configFields, new, nil, "", ""))
	changes = append(changes, changed(
		valuesOf(settingFields, &old.Defaults, nil, "", "defaults."),
		valuesOf(settingFields, &new.Defaults, nil, "", "defaults."))...)
	before := make(map[string]*Site, len(old.Sites))
	for i := range old.Sites {
		before[old.Sites[i].Name] = &old.Sites[i]
	}
	for i := range new.Sites {
		site := &new.Sites[i]
		was, known := before[site.Name]
		delete(before, site.Name)
		if !known {
			changes = append(changes, Change{Site: site.Name, Key: "site", New: site.URL})
			continue
		}
		changes = append(changes, changed(was.Values(nil), site.Values(nil))...)
	}
	for i := range old.Sites {
		if site := &old.Sites[i]; before[site.Name] != nil {
			changes = append(changes, Change{Site: site.Name, Key: "site", Old: site.URL})
		}
	}
	return changes
}

// changed compares two lists of the same fields.
func changed(old, new []Value) []Change {
	var changes []Change
	for i := range old {
		if old[i].Value != new[i].Value {
			changes = append(changes, Change{new[i].Site, new[i].Key, old[i].Value, new[i].Value})
		}
	}
	return changes
}
