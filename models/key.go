package models

import (
	"crypto/sha256"
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
)

// Buckets is the number of parts that hosts are hashed into, fixed for the life of a database.
const Buckets = 256

// BucketOf is the bucket of a host name (see HostName): the first byte of its SHA-256.
func BucketOf(host string) int16 {
	sum := sha256.Sum256([]byte(host))
	return int16(sum[0])
}

// HostID is the key of a host: 63 bits of the SHA-256 of its name, other bits than the bucket's.
func HostID(host string) int64 { return hashID(host) }

// PageID is the key of a page: 63 bits of the SHA-256 of its canonical URL. Two of ten million URLs share one with a
// probability of 5 in a million; within a bucket the second one is then not added, and counted as dropped.
func PageID(canonicalURL string) int64 { return hashID(canonicalURL) }

func hashID(s string) int64 {
	sum := sha256.Sum256([]byte(s))
	return int64(binary.BigEndian.Uint64(sum[8:16]) & math.MaxInt64)
}

// Digest is a SHA-256; the zero Digest means none.
type Digest [sha256.Size]byte

// DigestOf is the SHA-256 of b.
func DigestOf(b []byte) Digest { return sha256.Sum256(b) }

// IsZero tells whether there is no digest.
func (d Digest) IsZero() bool { return d == Digest{} }

// String is the digest in lower-case hex, or "" for none.
func (d Digest) String() string {
	if d.IsZero() {
		return ""
	}
	return hex.EncodeToString(d[:])
}

// Value implements driver.Valuer: 32 bytes, or NULL for none.
func (d Digest) Value() (driver.Value, error) {
	if d.IsZero() {
		return nil, nil
	}
	return d[:], nil
}

// Scan implements sql.Scanner.
func (d *Digest) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*d = Digest{}
		return nil
	case []byte:
		if len(v) == len(d) {
			copy(d[:], v)
			return nil
		}
		return fmt.Errorf("digest of %d bytes, want %d", len(v), len(d))
	}
	return fmt.Errorf("digest from %T", src)
}
