package sink

import (
	"errors"
	"io/fs"
	"log/slog"
	"path"
	"time"
)

// trashFor is the day that a file goes to the trash of.
func trashFor(day time.Time) string { return path.Join(trash, day.UTC().Format(time.DateOnly)) }

// emptyTrash removes what went to the trash on days that lie whole before a time, and returns how many days that were. What
// does not have the name of a day is not ours.
func (t *tree) emptyTrash(before time.Time) (days int, err error) {
	for _, dir := range []string{own, trash} {
		if stat, err := t.root.Lstat(dir); errors.Is(err, fs.ErrNotExist) || err == nil && !stat.IsDir() {
			return 0, nil
		} else if err != nil {
			return 0, err
		}
	}
	entries, err := fs.ReadDir(t.root.FS(), trash)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		day, unnamed := time.Parse(time.DateOnly, e.Name())
		if unnamed != nil || !e.IsDir() || day.AddDate(0, 0, 1).After(before) {
			continue
		}
		failed := t.before("remove", trashFor(day))
		if failed == nil {
			t.evict() // of the directories that are open some may lie there
			failed = t.root.RemoveAll(trashFor(day))
		}
		if failed == nil {
			days++
		}
		err = errors.Join(err, failed) // the other days go all the same
	}
	return days, err
}

// emptyTrash does so once a day. That it cannot is no reason not to deliver.
func (m *Mirror) emptyTrash(now time.Time) {
	m.emptied = trashFor(now)
	days, err := m.tree.emptyTrash(now.Add(-m.options.Trash))
	if err != nil {
		m.options.Log.Warn("the mirror's trash cannot be emptied; tried again tomorrow", slog.Any("error", err))
	}
	if days > 0 {
		m.options.Log.Info("emptied the mirror's trash", slog.Int("days", days), slog.Duration("older_than", m.options.Trash))
	}
}
