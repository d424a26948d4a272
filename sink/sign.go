package sink

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// sign sets the headers by which a receiver knows who sends, as Standard Webhooks (standardwebhooks.com) has them: an id that the same
// body always has, the time, and a signature by each key over both and the body.
func sign(header http.Header, keys [][]byte, now time.Time, body []byte) {
	sum := sha256.Sum256(body)
	id := "msg_" + hex.EncodeToString(sum[:16])
	seconds := now.Unix()
	signatures := make([]string, len(keys))
	for i, key := range keys {
		signatures[i] = signature(key, id, seconds, body)
	}
	header.Set("webhook-id", id)
	header.Set("webhook-timestamp", strconv.FormatInt(seconds, 10))
	header.Set("webhook-signature", strings.Join(signatures, " "))
}

// signature is that of one key.
func signature(key []byte, id string, seconds int64, body []byte) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.", id, seconds)
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
