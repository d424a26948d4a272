package recrawl

import (
	"fmt"
	"testing"
	"time"

	"recrawld/models"
)

// TestManySellOutWhereOthersStay: products that sell out on one day are each changed where pages that are visited meanwhile say what they always did, also
// where a token alone differs on these, so that nothing is compared.
func TestManySellOutWhereOthersStay(t *testing.T) {
	t.Parallel()
	const sold, stay = 12, 4
	l, o, _, _ := shop(t, nil)
	l.step = 10 * time.Minute
	set := func(n int, stock, token string) string {
		path := fmt.Sprintf("/lamps/%d", n)
		o.Set(path, onSale(n, "", fmt.Sprintf("<div>Availability: %s</div><script>token=%q</script>", stock, token)))
		return o.URL(path)
	}
	for n := range sold + stay {
		wantKind(t, l.turn(set(n, "In Stock", "a")), models.First)
	}
	for n := range sold {
		wantKind(t, l.turn(set(n, "Out Of Stock", "b")), models.Changed)
		wantKind(t, l.turn(set(sold+n%stay, "In Stock", fmt.Sprint(n))), models.SameText)
	}
}
