package models

import "testing"

// A page that was leased while it was held back, and that nobody visited, stays due as somebody approved.
func TestApprovalOutlivesWaiting(t *testing.T) {
	t.Parallel()
	r := Result{Before: &Page{State: StateMissing, Rule: RuleGuarded, DueAt: 5000}, Visit: Visit{Kind: Deferred}}
	if !r.Wished(6000, RuleApproved) {
		t.Error("approved while it was leased, and deferred, it is not due any more")
	}
	if r.Visit.Kind = Missing; r.Wished(6000, RuleApproved) {
		t.Error("approved while it was leased, and visited, it is due as before")
	}
}
