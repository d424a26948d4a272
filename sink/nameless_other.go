//go:build !linux

package sink

import (
	"errors"
	"time"
)

// nameless is an open file without a name, which there is none of here.
type nameless struct{}

func (d *directory) nameless() (*nameless, error) { return nil, errors.ErrUnsupported }

func (n *nameless) fill([]byte, time.Time) error { return errors.ErrUnsupported }

func (d *directory) adopt(*nameless, string) error { return errors.ErrUnsupported }

func (n *nameless) close() bool { return false }
