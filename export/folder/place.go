package folder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// form is what a folder says itself to be: one that does not is no folder of ours.
const form = "recrawld folder 1"

// about is what a folder says of itself, in .recrawl/about.json.
type about struct {
	Form      string `json:"form"`
	Software  string `json:"software"`
	Created   string `json:"created"`
	Selection string `json:"selection"`
	Pages     int64  `json:"pages"`
	Redirects int64  `json:"redirects"`
	Lost      int64  `json:"lost"`
	Refused   int64  `json:"asked_not_to_be_archived"`
	Away      int64  `json:"references_elsewhere"`
	Needs     int64  `json:"requisites_elsewhere"`
}

// aboutName is where a folder says it.
const aboutName = ours + "/about.json"

// The reasons why a folder is not written.
var (
	ErrTaken   = errors.New("it is there already")                       // and is a former export
	ErrForeign = errors.New("it is there already and no export of ours") // it is no folder, or holds something else
)

// Vacant tells whether a folder can be written at a path: where nothing is, or an empty folder, or by force a former export. Else the error
// is ErrTaken or ErrForeign, or that of the file system. It follows no symbolic link.
func Vacant(path string, force bool) error {
	_, err := occupied(path, force)
	return err
}

// occupied tells whether a former export, or an empty folder, has to make way.
func occupied(path string, force bool) (former bool, err error) {
	there, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		_, err := os.Stat(filepath.Dir(path))
		return false, err
	}
	if err != nil {
		return false, err
	}
	if !there.IsDir() {
		return false, ErrForeign
	}
	dir, err := os.Open(path)
	if err != nil {
		return false, err
	}
	names, _ := dir.Readdirnames(1) // an error is that of the next question
	if err := dir.Close(); err != nil {
		return false, err
	}
	switch {
	case len(names) == 0:
		return true, nil
	case !isOurs(path):
		return false, ErrForeign
	case !force:
		return false, ErrTaken
	}
	return true, nil
}

// isOurs tells whether a folder says that it is a former export.
func isOurs(path string) bool {
	root, err := os.OpenRoot(path)
	if err != nil {
		return false
	}
	defer root.Close()
	name := filepath.FromSlash(aboutName)
	for _, one := range []string{ours, name} {
		if there, err := root.Lstat(one); err != nil || there.Mode()&fs.ModeSymlink != 0 {
			return false
		}
	}
	text, err := root.ReadFile(name)
	var a about
	return err == nil && json.Unmarshal(text, &a) == nil && a.Form == form
}

// publish gives a folder that is whole its name. Where a former one has it, both change places at once where the system can do that, and the
// former one is removed.
func publish(draft, path string, force bool) error {
	former, err := occupied(path, force)
	if err != nil {
		return err
	}
	if !former {
		if err := os.Rename(draft, path); err != nil {
			return err
		}
		return syncDirectory(filepath.Dir(path))
	}
	old := draft
	if err := exchange(draft, path); err != nil {
		if old, err = turnOver(draft, path); err != nil {
			return err
		}
	}
	if err := syncDirectory(filepath.Dir(path)); err != nil {
		return err
	}
	return discard(old)
}

// turnOver is exchange where the system cannot do it: for a moment nothing has the name.
func turnOver(draft, path string) (old string, err error) {
	old = draft + ".old"
	if err := os.Rename(path, old); err != nil {
		return "", err
	}
	if err := os.Rename(draft, path); err != nil {
		return "", fmt.Errorf("%w; what was at %s is at %s", errors.Join(err, os.Rename(old, path)), path, path)
	}
	return old, nil
}

func syncDirectory(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
