package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"recrawld/config"
	"recrawld/scheduler/policy"
)

// The configuration names the policies without knowing them.
func TestPoliciesAreThoseThereAre(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(policy.Names(), config.Policies()); diff != "" {
		t.Errorf("policies (-there are +can be chosen):\n%s", diff)
	}
}
