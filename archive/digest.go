package archive

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"strings"
)

// checkDigest compares content with a labelled digest such as "sha256:…", in hex or Base32. Ours are sha256 in hex;
// sha1 in Base32 is what most other tools write. No digest and an unknown algorithm pass.
func checkDigest(labelled string, content []byte) error {
	label, text, ok := strings.Cut(labelled, ":")
	if !ok {
		return nil
	}
	var sum []byte
	switch strings.ToLower(label) {
	case "sha256", "sha-256":
		d := sha256.Sum256(content)
		sum = d[:]
	case "sha1", "sha-1":
		d := sha1.Sum(content)
		sum = d[:]
	default:
		return nil
	}
	want, err := hex.DecodeString(text)
	if err != nil {
		want, err = base32.StdEncoding.DecodeString(strings.ToUpper(text))
	}
	if err != nil || !bytes.Equal(want, sum) {
		return fmt.Errorf("digest of %d bytes is %x, want %s", len(content), sum, labelled)
	}
	return nil
}
