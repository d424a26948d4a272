#compdef recrawld
# Completion of recrawld's command lines for zsh: sourced after compinit, or as _recrawld in a directory of $fpath.
_recrawld() {
    local line
    local -a said described
    said=("${(@f)$(recrawld complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ ${said[1]} == :files ]]; then
        compset -P '--*='
        _files
        return
    fi
    for line in "${said[@]}"; do
        [[ -n $line ]] && described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    _describe -t values recrawld described
}
if [[ ${funcstack[1]} == _recrawld ]]; then
    _recrawld "$@"
else
    compdef _recrawld recrawld
fi
