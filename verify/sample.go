package verify

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
)

// Sample is what part of all is looked at, drawn at random: a number of them, or each with some chance. The zero Sample is all.
type Sample struct {
	Number int
	Share  float64 // 0–1
}

// mostDrawn is the largest number of a Sample: they are held in memory.
const mostDrawn = 100_000

// UnmarshalText implements encoding.TextUnmarshaler, for "1000" and "5%".
func (s *Sample) UnmarshalText(text []byte) error {
	if percent, ok := strings.CutSuffix(strings.TrimSpace(string(text)), "%"); ok {
		share, err := strconv.ParseFloat(strings.TrimSpace(percent), 64)
		if err != nil || !(share > 0 && share <= 100) {
			return errors.New("a share is more than 0% and at most 100%")
		}
		*s = Sample{Share: share / 100}
		return nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || n < 1 || n > mostDrawn {
		return errors.New("a number from 1 to 100000, or a share such as 5%")
	}
	*s = Sample{Number: n}
	return nil
}

// Draw draws a sample of what it is shown, each as likely as any other. A number of them is held until all were shown (Vitter 1985,
// algorithm R). It is not safe for concurrent use.
type Draw[T any] struct {
	sample Sample
	chance uint64 // where the sequence of chances is
	seen   uint64
	held   []T
}

// NewDraw begins a draw, another one each time.
func NewDraw[T any](s Sample) *Draw[T] {
	var seed [8]byte
	rand.Read(seed[:]) // never fails
	return &Draw[T]{sample: s, chance: binary.LittleEndian.Uint64(seed[:])}
}

// next is the next of the chances (SplitMix64: Steele, Lea and Flood 2014).
func (d *Draw[T]) next() uint64 {
	d.chance += 0x9e3779b97f4a7c15
	x := d.chance
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Take shows one and tells whether it is drawn at once. Where a number is drawn it never is: see Held.
func (d *Draw[T]) Take(one T) bool {
	d.seen++
	switch {
	case d.sample.Share > 0:
		return float64(d.next()>>11)/(1<<53) < d.sample.Share
	case d.sample.Number == 0:
		return true
	case len(d.held) < d.sample.Number:
		d.held = append(d.held, one)
	default:
		if i := d.next() % d.seen; i < uint64(len(d.held)) {
			d.held[i] = one
		}
	}
	return false
}

// Held are those that are drawn in the end where a number is.
func (d *Draw[T]) Held() []T { return d.held }
