# Completion of recrawld's command lines for fish: sourced, or in /usr/share/fish/vendor_completions.d/recrawld.fish.
function __recrawld_complete
    set -l before (commandline -opc)
    set -l last (commandline -ct)
    set -l said (recrawld complete -- $before[2..-1] "$last" 2>/dev/null)
    if test "$said[1]" = :files
        set -l file (string replace -r -- '^--[^=]*=' '' "$last")
        set -l option (string sub -l (math (string length -- "$last") - (string length -- "$file")) -- "$last")
        printf '%s\n' $option(__fish_complete_path "$file")
        return
    end
    printf '%s\n' $said
end
complete -c recrawld -f -a '(__recrawld_complete)'
